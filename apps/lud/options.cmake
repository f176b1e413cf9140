# The inner product is gemm's, and so is the reason (apps/gemm/options.cmake).
target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-O1>)
