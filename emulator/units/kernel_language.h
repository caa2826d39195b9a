#pragma once
// Gives g++ what nvcc adds to C++, for kernels: included before everything else in a .cu file
// (emulator/CMakeLists.txt). One warp has 32 lanes, and all of them take part wherever lanes meet;
// a block runs on one thread of the host, so shared variables are thread-local ones.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "emulator/device/emulated_stream.h"
#include "emulator/device/failure.h"
#include "emulator/units/grid.h"

// A block runs on one thread of the host.
#undef __shared__
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define cudaLaunchKernelEx ::mpitron::emulator::launch_kernel

inline constinit thread_local uint3 threadIdx{};
inline constinit thread_local dim3 blockIdx{0, 0, 0}, blockDim, gridDim;
inline constexpr int warpSize = 32;

template <class... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

namespace mpitron::emulator {

/// Launches a kernel with copies of its arguments, each checked for addresses that a GPU cannot
/// reach.
template <class... P, class... A>
cudaError_t launch_kernel(const cudaLaunchConfig_t* config, void (*kernel)(P...),
                          A&&... arguments) {
  (check_reachable<P>(reinterpret_cast<const void*>(kernel), static_cast<P>(arguments)), ...);
  return enqueue_kernel(*config, reinterpret_cast<const void*>(kernel),
                        [kernel, values = std::tuple<P...>(static_cast<P>(arguments)...)] {
                          std::apply(kernel, values);
                        });
}

inline unsigned lane_number() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}
inline void check_full(unsigned mask) {
  if (mask != 0xffffffffu) {
    fail_thread("a warp-wide function was given a mask that leaves lanes out");
  }
}

/// Gives every lane the value of the lane that it names.
template <class T>
T from_lane(unsigned mask, T value, unsigned source) {
  check_full(mask);
  struct Lane {
    T value, result;
    unsigned source;
  } mine{value, value, source};
  meet_warp(mine, [](Lane* const lanes[32]) {
    for (int i = 0; i < 32; ++i) {
      lanes[i]->result = lanes[lanes[i]->source]->value;
    }
  });
  return mine.result;
}

template <class To, class From>
To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace mpitron::emulator

inline void __syncthreads() {
  ::mpitron::emulator::meet_block();
}
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  ::mpitron::emulator::check_full(mask);
  ::mpitron::emulator::meet_warp_with_memory();
}
inline void __threadfence() {}
inline void __threadfence_block() {}

// Exchange values between lanes of a warp, in segments of `width` lanes.
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const unsigned lane = ::mpitron::emulator::lane_number(), n = static_cast<unsigned>(width);
  return ::mpitron::emulator::from_lane(mask, value,
                                        lane / n * n + static_cast<unsigned>(source) % n);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const unsigned lane = ::mpitron::emulator::lane_number(), n = static_cast<unsigned>(width);
  const unsigned source = lane ^ static_cast<unsigned>(bits);
  return ::mpitron::emulator::from_lane(mask, value, source / n > lane / n ? lane : source);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = ::mpitron::emulator::lane_number(), n = static_cast<unsigned>(width);
  return ::mpitron::emulator::from_lane(mask, value, lane % n + delta < n ? lane + delta : lane);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = ::mpitron::emulator::lane_number(), n = static_cast<unsigned>(width);
  return ::mpitron::emulator::from_lane(mask, value, lane % n >= delta ? lane - delta : lane);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  ::mpitron::emulator::check_full(mask);
  struct Lane {
    bool vote;
    unsigned votes;
  } mine{predicate != 0, 0};
  ::mpitron::emulator::meet_warp(mine, [](Lane* const lanes[32]) {
    unsigned votes = 0;
    for (unsigned i = 0; i < 32; ++i) {
      votes |= lanes[i]->vote ? 1u << i : 0;
    }
    for (unsigned i = 0; i < 32; ++i) {
      lanes[i]->votes = votes;
    }
  });
  return mine.votes;
}
inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0 ? 1 : 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) == 0xffffffffu ? 1 : 0;
}
// Offers atomics on integers only: sums of floating-point numbers by atomics have no fixed order,
// so kernels that use them do not compile here.
template <std::integral T>
T atomicExch(T* address, T value) {
  return __atomic_exchange_n(address, value, __ATOMIC_RELAXED);
}
template <std::integral T>
T atomicAdd(T* address, T value) {
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
template <std::integral T>
T atomicOr(T* address, T value) {
  return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}
template <std::integral T>
T atomicCAS(T* address, T expected, T value) {
  __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
/// Store the largest, or smallest, of what was there and `value`. A load and a store are enough:
/// blocks of a launch run one after another, and threads switch only where they meet.
template <std::integral T>
T atomicMax(T* address, T value) {
  return atomicExch(address, std::max(__atomic_load_n(address, __ATOMIC_RELAXED), value));
}
template <std::integral T>
T atomicMin(T* address, T value) {
  return atomicExch(address, std::min(__atomic_load_n(address, __ATOMIC_RELAXED), value));
}

// Loads and stores with hints for the caches.
template <class T>
T __ldg(const T* address) {
  return *address;
}
template <class T>
T __ldcs(const T* address) {
  return *address;
}
template <class T>
T __ldcg(const T* address) {
  return *address;
}
template <class T>
void __stcs(T* address, T value) {
  *address = value;
}
template <class T>
void __stcg(T* address, T value) {
  *address = value;
}

// Provide functions that CUDA's mathematical library has and the host's lacks. The fast ones
// (__expf, ..) are as exact here as the others: their bits are not those of a GPU.
using std::isfinite;
using std::isinf;
using std::isnan;
inline float rsqrtf(float x) {
  return 1.0f / sqrtf(x);
}
inline double rsqrt(double x) {
  return 1.0 / sqrt(x);
}
inline float __expf(float x) {
  return expf(x);
}
inline float __logf(float x) {
  return logf(x);
}
inline float __log2f(float x) {
  return log2f(x);
}
inline float __sinf(float x) {
  return sinf(x);
}
inline float __cosf(float x) {
  return cosf(x);
}
inline float __fdividef(float x, float y) {
  return x / y;
}
inline float __frcp_rn(float x) {
  return 1.0f / x;
}
inline float __fsqrt_rn(float x) {
  return sqrtf(x);
}
inline float __fmaf_rn(float x, float y, float z) {
  return fmaf(x, y, z);
}
inline float __saturatef(float x) {
  return fminf(fmaxf(x, 0.0f), 1.0f);
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = static_cast<float>(std::sin(M_PI * x));
  *cosine = static_cast<float>(std::cos(M_PI * x));
}

// Round once: volatile keeps the compiler from fusing a multiplication with an addition.
inline float __fmul_rn(float x, float y) {
  volatile float product = x * y;
  return product;
}
inline float __fadd_rn(float x, float y) {
  volatile float sum = x + y;
  return sum;
}
inline float __fsub_rn(float x, float y) {
  volatile float difference = x - y;
  return difference;
}
inline double __dmul_rn(double x, double y) {
  volatile double product = x * y;
  return product;
}
inline double __dadd_rn(double x, double y) {
  volatile double sum = x + y;
  return sum;
}

// Integers and bits.
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline unsigned __float_as_uint(float x) {
  return ::mpitron::emulator::bits_as<unsigned>(x);
}
inline int __float_as_int(float x) {
  return ::mpitron::emulator::bits_as<int>(x);
}
inline float __uint_as_float(unsigned x) {
  return ::mpitron::emulator::bits_as<float>(x);
}
inline float __int_as_float(int x) {
  return ::mpitron::emulator::bits_as<float>(x);
}
inline long long __double_as_longlong(double x) {
  return ::mpitron::emulator::bits_as<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return ::mpitron::emulator::bits_as<double>(x);
}
template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  return b < a ? b : a;
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  return a < b ? b : a;
}
