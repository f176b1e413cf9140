// Lets one definition serve device code and CPU tests, and lets host-only builds (preset `cpu`)
// name a stream without the CUDA headers.
#pragma once

#ifdef __CUDACC__
#define AMASIA_HD __host__ __device__
#else
#define AMASIA_HD
#endif

struct CUstream_st;
namespace amasia {
using Stream = CUstream_st*;  // the same type as cudaStream_t
}
