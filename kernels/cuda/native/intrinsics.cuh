#pragma once
#include <cstdint>

#include <nv/target>

#include "utils/numbers/float8.h"

// What CUDA C++ cannot say without PTX, one function each. tests/emulator/include holds functions
// of the same names for the emulator; the include path chooses.

namespace mpitron::kernels::cuda {

/// The block's dynamic shared memory, aligned to 128 bytes.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char dynamic_shared_bytes[];
  return reinterpret_cast<T*>(dynamic_shared_bytes);
}

/// Stores 16 bytes, to 16 aligned, in one access; nvcc makes four of some such assignments.
inline __device__ void store_words(void* to, const uint4& words) {
  asm volatile("st.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(words.x), "r"(words.y),
               "r"(words.z), "r"(words.w)
               : "memory");
}

/// Begins to copy 16 bytes from global to shared memory, both aligned to 16: the first `bytes` are
/// copied, the others become 0. Source: PTX ISA, cp.async.
inline __device__ void copy_async(void* shared, const void* global, int bytes) {
  const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes)
               : "memory");
}

/// Makes one group of the copies that this thread has begun since the last group.
inline __device__ void copy_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most `kOpen` groups of this thread's copies, the latest ones, are under way.
template <int kOpen>
__device__ void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kOpen) : "memory");
}

/// Four matrices of 8 rows of 16 bytes: lane l gives the address of row l % 8 of matrix l / 8, and
/// gets of each matrix word l % 4 of row l / 4. Source: PTX ISA, ldmatrix.
inline __device__ void load_matrices(std::uint32_t (&words)[4], const void* row) {
  const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}

/// The same, transposed: a lane gets of each matrix of 8 x 8 elements of 16 bits those of rows
/// l % 4 * 2 and the next, in column l / 4.
inline __device__ void load_matrices_transposed(std::uint32_t (&words)[4], const void* row) {
  const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}

/// c += a b in fp32, a of 16 x 16 and b of 16 x 8 bf16, by a warp. Lane l holds of a, two columns a
/// word, rows l / 4 and l / 4 + 8 of columns l % 4 * 2, then of columns 8 further on; of b, two
/// rows a word, rows l % 4 * 2, then rows 8 further on, of column l / 4; of c, columns l % 4 * 2
/// and the next of row l / 4, then of row l / 4 + 8. Source: PTX ISA, mma.m16n8k16.
inline __device__ void multiply_bf16(float (&c)[4], const std::uint32_t (&a)[4],
                                     const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// The same for fp16.
inline __device__ void multiply_f16(float (&c)[4], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// The same for a of 16 x 8 and b of 8 x 8 tf32, one element a word: of a, rows l / 4 and l / 4 + 8
/// of column l % 4, then of the column 4 further on; of b, row l % 4, then the row 4 further on.
/// Source: PTX ISA, mma.m16n8k8.
inline __device__ void multiply_tf32(float (&c)[4], const std::uint32_t (&a)[4],
                                     const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// c += a b, exact in 32 bits, a of 16 x 32 unsigned and b of 32 x 8 signed bytes, by a warp. Lane
/// l holds of a, four columns a word, rows l / 4 and l / 4 + 8 of columns l % 4 * 4, then of
/// columns 16 further on; of b, four rows a word, rows l % 4 * 4, then rows 16 further on, of
/// column l / 4; c as above. Source: PTX ISA, mma.m16n8k32.
inline __device__ void multiply_u8_s8(int (&c)[4], const std::uint32_t (&a)[4],
                                      const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// The nearest number of 11 significant bits, as a tf32 operand; NaN stays NaN.
inline __device__ std::uint32_t round_to_tf32(float x) {
  std::uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

/// 2^x within 2 units in the last place; denormal results are 0. Source: PTX ISA, ex2.
inline __device__ float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// to_fp8 of both, the first in the lower byte. GPUs that convert themselves drop the sign of NaN.
/// Source: PTX ISA, cvt.rn.satfinite.
inline __device__ std::uint32_t fp8_pair(float first, float second, Fp8Format format) {
  NV_IF_ELSE_TARGET(
      NV_PROVIDES_SM_89, ({
        std::uint16_t bits;
        if (format == Fp8Format::e4m3) {
          asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(second), "f"(first));
        } else {
          asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(second), "f"(first));
        }
        const std::uint32_t tops =
            __byte_perm(__float_as_uint(first), __float_as_uint(second), 0x0073);
        return bits | (tops & 0x8080u);
      }),
      ({ return to_fp8(first, format) | to_fp8(second, format) << 8; }))
}

}  // namespace mpitron::kernels::cuda
