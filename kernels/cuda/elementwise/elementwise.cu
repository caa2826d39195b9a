// Numerical contract: that of elementwise.h. NormalInit's logarithm and cosine are the
// GPU's in fp64: where they differ in their last bit from the host's, a number may round to its
// neighbour.
#include "kernels/cuda/common/any_elements.cuh"
#include "kernels/cuda/common/vector.cuh"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/normal_sample.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

template <class T>
__global__ void fill(T* x, Index n, bool packed, float value) {
  for_packs(n, packed, thread_of_grid(), [&](Index i, auto width) {
    Floats<width> pack;
    for (float& v : pack.v) {
      v = value;
    }
    store(x + i, pack);
  });
}

/// Casts rows of any strides, a pack to a thread where addresses allow it.
template <class Tx, class Ty>
__global__ void cast_rows(const __grid_constant__ Rows<const Tx> x,
                          const __grid_constant__ Rows<Ty> y, Index rows, Index n, bool packed) {
  for_rows(rows, n, packed,
           [&](Index row, Index i, auto width) { store(y[row] + i, load(x[row] + i, width)); });
}

/// Converts types other than fp32 and its halves, each element by itself.
template <class Tx, class Ty>
__global__ void convert_rows(const __grid_constant__ Rows<const Tx> x,
                             const __grid_constant__ Rows<Ty> y, Index rows, Index n) {
  for_rows(rows, n, false,
           [&](Index row, Index i, auto) { y[row][i] = static_cast<Ty>(x[row][i]); });
}

template <class A, class B, class Y>
__global__ void add(A a, B b, Y y, Index n, bool packed) {
  for_packs(n, packed, thread_of_grid(), [&](Index i, auto width) {
    store(y + i,
          each([](float v, float w) { return v + w; }, load(a + i, width), load(b + i, width)));
  });
}

__global__ void add_fp64(const double* a, const double* b, double* y, Index n) {
  for_packs(n, false, thread_of_grid(), [&](Index i, auto) { y[i] = a[i] + b[i]; });
}

__global__ void fill_fp64(double* x, Index n, double value) {
  for_packs(n, false, thread_of_grid(), [&](Index i, auto) { x[i] = value; });
}

template <class Tx, class Ty>
__global__ void scale(const Tx* x, Ty* y, Index n, bool packed, float factor) {
  for_packs(n, packed, thread_of_grid(), [&](Index i, auto width) {
    store(y + i, each([&](float v) { return v * factor; }, load(x + i, width)));
  });
}

template <class Tx, class Ty>
__global__ void moving_average(const Tx* x, Ty* average, Index n, bool packed, float stays) {
  for_packs(n, packed, thread_of_grid(), [&](Index i, auto width) {
    store(average + i, each([&](float a, float v) { return a * stays + v * (1 - stays); },
                            load(average + i, width), load(x + i, width)));
  });
}

/// Sums by one block: all threads form products; two add them in order, so that the sums are those
/// of the host.
__global__ void masked_sum(const float* x, const float* mask, double* y, Index n) {
  __shared__ double terms[2][kThreads];
  double sum = 0;
  for (Index first = 0; first < n; first += kThreads) {
    const int count = static_cast<int>(n - first < kThreads ? n - first : kThreads);
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) {
      terms[1][i] = mask[first + i];
      terms[0][i] = terms[1][i] * x[first + i];
    }
    __syncthreads();
    if (i < 2) {
      for (int j = 0; j < count; ++j) {
        sum += terms[i][j];
      }
    }
    __syncthreads();
  }
  if (threadIdx.x < 2) {
    y[threadIdx.x] = sum;
  }
}

/// Parameters of NormalInit; numbers are drawn by the element's global index, so any thread may
/// draw them.
struct NormalNumbers {
  Philox::Key key;
  Index first_index, pitch;
  double mean, std;
};

template <class T>
__global__ void normal_init(const __grid_constant__ Rows<T> x, Index rows, Index n,
                            NormalNumbers numbers) {
  for_rows(rows, n, false, [&](Index row, Index i, auto) {
    const Index index = numbers.first_index + row * numbers.pitch + i;
    x[row][i] = static_cast<T>(
        static_cast<float>(numbers.mean + numbers.std * normal_sample(numbers.key, index)));
  });
}

/// Casts without packs, for int64 and fp64.
template <class Tx, class Ty>
void convert(device::CudaStream& stream, const Cast& k) {
  const Index rows = row_count(k.x), n = k.x.size(-1);
  launch(stream, Cast::name, row_shape(rows, n), convert_rows<Tx, Ty>, rows_of<Tx>(k.x),
         rows_of<Ty>(k.y), rows, n);
}

template <class A, class B, class Y>
void add_flat(device::CudaStream& stream, const Add& k, A a, B b, Y y) {
  const Index n = k.y.numel();
  const bool packed =
      all_packed(static_cast<const uint4*>(k.a.data), static_cast<const uint4*>(k.b.data),
                 static_cast<const uint4*>(k.y.data));
  launch(stream, Add::name, flat_shape(n), add<A, B, Y>, a, b, y, n, packed);
}

}  // namespace

void run(device::CudaStream& stream, const Fill& k) {
  MPITRON_CHECK(k.x.contiguous(), to_string(k.x.shape));
  const Index n = k.x.numel();
  if (k.x.dtype == DType::f64) {
    launch(stream, Fill::name, flat_shape(n), fill_fp64, elements<double>(k.x), n, k.value);
    return;
  }
  visit_element(k.x.dtype, [&]<class T>() {
    T* x = elements<T>(k.x);
    launch(stream, Fill::name, flat_shape(n), fill<T>, x, n, all_packed(x), k.value);
  });
}

void run(device::CudaStream& stream, const Cast& k) {
  MPITRON_CHECK(k.x.shape == k.y.shape, to_string(k.x.shape), to_string(k.y.shape));
  if (k.x.dtype == DType::i64) {
    convert<std::int64_t, std::int64_t>(stream, k);
  } else if (k.x.dtype == DType::f64 && k.y.dtype == DType::f64) {
    convert<double, double>(stream, k);
  } else if (k.x.dtype == DType::f64) {
    visit_element(k.y.dtype, [&]<class Ty>() { convert<double, Ty>(stream, k); });
  } else if (k.y.dtype == DType::f64) {
    visit_element(k.x.dtype, [&]<class Tx>() { convert<Tx, double>(stream, k); });
  } else {
    visit_elements(k.x.dtype, k.y.dtype, [&]<class Tx, class Ty>() {
      const auto x = rows_of<Tx>(k.x);
      const auto y = rows_of<Ty>(k.y);
      const Index rows = row_count(k.x), n = k.x.size(-1);
      launch(stream, Cast::name, row_shape(rows, n), cast_rows<Tx, Ty>, x, y, rows, n,
             all_packed(x, y));
    });
  }
}

void run(device::CudaStream& stream, const Add& k) {
  MPITRON_CHECK(k.a.contiguous() && k.b.contiguous() && k.y.contiguous(), to_string(k.y.shape));
  if (k.b.dtype == DType::f64) {
    const Index n = k.y.numel();
    launch(stream, Add::name, flat_shape(n), add_fp64, elements<double>(k.a), elements<double>(k.b),
           elements<double>(k.y), n);
  } else if (k.a.dtype != k.y.dtype) {
    add_flat(stream, k, AnyInput{k.a.data, k.a.dtype}, AnyInput{k.b.data, k.b.dtype},
             AnyOutput{k.y.data, k.y.dtype});
  } else {
    visit_elements(k.b.dtype, k.y.dtype, [&]<class Tb, class Ty>() {
      add_flat(stream, k, elements<Ty>(k.a), elements<Tb>(k.b), elements<Ty>(k.y));
    });
  }
}

void run(device::CudaStream& stream, const Scale& k) {
  MPITRON_CHECK(k.x.contiguous() && k.y.contiguous(), to_string(k.y.shape));
  const Index n = k.y.numel();
  visit_elements(k.x.dtype, k.y.dtype, [&]<class Tx, class Ty>() {
    const Tx* x = elements<Tx>(k.x);
    Ty* y = elements<Ty>(k.y);
    launch(stream, Scale::name, flat_shape(n), scale<Tx, Ty>, x, y, n, all_packed(x, y), k.factor);
  });
}

void run(device::CudaStream& stream, const MovingAverage& k) {
  MPITRON_CHECK(k.x.contiguous() && k.average.contiguous(), to_string(k.x.shape));
  const Index n = k.x.numel();
  visit_elements(k.x.dtype, k.average.dtype, [&]<class Tx, class Ty>() {
    const Tx* x = elements<Tx>(k.x);
    Ty* average = elements<Ty>(k.average);
    launch(stream, k.name, flat_shape(n), moving_average<Tx, Ty>, x, average, n,
           all_packed(x, average), k.momentum);
  });
}

void run(device::CudaStream& stream, const MaskedSum& k) {
  launch(stream, MaskedSum::name, {1, kThreads}, masked_sum, elements<float>(k.x),
         elements<float>(k.mask), elements<double>(k.y), k.x.numel());
}

void run(device::CudaStream& stream, const NormalInit& k) {
  MPITRON_CHECK(k.pitch > 0 || k.x.contiguous(), to_string(k.x.shape));
  const device::TensorView whole = k.x;
  const auto x = k.pitch > 0 ? whole : device::reshape(whole, {whole.numel()});
  const NormalNumbers numbers{k.key, k.first_index, k.pitch, k.mean, k.std};
  const Index rows = row_count(x), n = x.size(-1);
  visit_element(x.dtype, [&]<class T>() {
    launch(stream, NormalInit::name, row_shape(rows, n), normal_init<T>, rows_of<T>(x), rows, n,
           numbers);
  });
}

}  // namespace mpitron::kernels
