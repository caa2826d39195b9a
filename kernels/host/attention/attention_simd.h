#pragma once
// Chooses the vector type of the attention kernels: 16 floats, with the operations of both files
// below.
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include "kernels/host/attention/attention_simd_avx512.h"
namespace mpitron::kernels::host::attention {
using namespace avx512;
}
#else
#include "kernels/host/attention/attention_simd_portable.h"
namespace mpitron::kernels::host::attention {
using namespace portable;
}
#endif
