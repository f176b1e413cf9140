// Instructions that not every GPU has. A fat binary compiles their callers for older GPUs too,
// where the strategies' traits keep them from being launched; there the instruction is a trap.
// Macros, because an asm statement with its operands can be passed no other way.
#pragma once

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define AMASIA_SM80_ASM(...) asm volatile(__VA_ARGS__)
#else
#define AMASIA_SM80_ASM(...) __trap()
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
#define AMASIA_SM89_ASM(...) asm volatile(__VA_ARGS__)
#else
#define AMASIA_SM89_ASM(...) __trap()
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define AMASIA_SM90_ASM(...) asm volatile(__VA_ARGS__)
#else
#define AMASIA_SM90_ASM(...) __trap()
#endif

// Of sm_90a alone: later architectures do not have it either.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define AMASIA_WGMMA_ASM(...) asm volatile(__VA_ARGS__)
#else
#define AMASIA_WGMMA_ASM(...) __trap()
#endif
