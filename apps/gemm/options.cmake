# The inner loop of apps/common/fp32_tile.cuh is written in the order in which it should run. ptxas reorders it at its
# default level, and then a third of the FFMA wait for a register bank (README.md, "fp32: what made it fast").
target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-O1>)
