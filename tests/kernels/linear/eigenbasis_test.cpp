#include "kernels/linear/eigenbasis.h"

#include <algorithm>

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace eigenbasis_test {

using Matrix = std::vector<double>;

/// a b, or a b^T, of [n, n] each.
Matrix product(const Matrix& a, const Matrix& b, Index n, bool transposed = false) {
  Matrix c(a.size(), 0);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      for (Index k = 0; k < n; ++k) {
        c[static_cast<std::size_t>(i * n + j)] +=
            a[static_cast<std::size_t>(i * n + k)] *
            b[static_cast<std::size_t>(transposed ? j * n + k : k * n + j)];
      }
    }
  }
  return c;
}

/// Gram matrix of n rows of `rank` numbers, whose eigenvalues are apart.
Matrix gram(Index n, Index rank) {
  Matrix rows(static_cast<std::size_t>(n * n), 0);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < rank; ++j) {
      rows[static_cast<std::size_t>(i * n + j)] =
          (i == j ? static_cast<double>(j + 1) : 0) +
          0.3 * std::sin(static_cast<double>((i + 1) * (i + 1) * (j + 2)));
    }
  }
  return product(rows, rows, n, true);
}

Matrix identity(Index n) {
  Matrix one(static_cast<std::size_t>(n * n), 0);
  for (Index i = 0; i < n; ++i) {
    one[static_cast<std::size_t>(i * n + i)] = 1;
  }
  return one;
}

/// Memory of both sides' kernels, whose numbers nobody compares.
struct Workspace {
  explicit Workspace(const Shape& shape) : shape(shape) {
    for (Matrix& side : memory) {
      side.resize(static_cast<std::size_t>(shape.numel()));
    }
  }
  device::TensorView operator()(Side side) { return {memory[side].data(), DType::f64, shape}; }

  Shape shape;
  Matrix memory[2];
};

void expect_near(const Matrix& a, const Matrix& b, double tolerance) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], tolerance) << i;
  }
}

/// Also of matrices most of whose eigenvalues are 0, where any vectors would do but these are
/// wanted; they are eigenvectors, in order, and orthogonal.
TEST(Eigenbasis, EigenvectorsAreThoseOfTheReference) {
  for (const auto& [n, rank] : {std::pair<Index, Index>{1, 1}, {6, 6}, {13, 5}, {40, 33}, {7, 0}}) {
    Workbench bench({0, 0});
    Twin& x = bench.input(DType::f64, {n, n});
    const Matrix matrix = gram(n, rank);
    x.fill(matrix);
    Twin &vectors = bench.output(DType::f64, {n, n}), &present = bench.output(DType::f64, {n});
    Workspace memory({n, n});
    const auto find = [&](Side side) {
      return Eigenvectors{x(side), vectors(side), present(side), memory(side)};
    };
    bench.check(find, 1e-9);
    const Matrix found = vectors.sides[tested_side].values();
    const Matrix there = present.sides[tested_side].values();
    EXPECT_EQ(std::count(there.begin(), there.end(), 1), rank);
    expect_near(product(found, found, n, true), identity(n), 1e-13);
    const Matrix turned = product(product(found, matrix, n), found, n, true);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        const auto at = [&](Index a, Index b) {
          return turned[static_cast<std::size_t>(a * n + b)];
        };
        if (i == j) {
          EXPECT_LE(i == 0 ? 0 : at(i, i) - at(i - 1, i - 1), 1e-12);
        } else {
          ASSERT_NEAR(at(i, j), 0, 1e-12 * static_cast<double>(n)) << i << ' ' << j;
        }
      }
    }
  }
}

/// Steps from any basis come to the eigenvectors, also of a matrix that makes products dependent.
TEST(Eigenbasis, StepsComeToTheEigenvectors) {
  constexpr Index kSize = 6;
  for (const Index rank : {kSize, Index{3}, Index{0}}) {
    const Matrix matrix = gram(kSize, rank);
    Matrix basis = identity(kSize);
    for (int step = 0; step < 400; ++step) {
      Workbench bench({0, 0});
      Twin &vectors = bench.input(DType::f64, {kSize, kSize}),
           &products = bench.input(DType::f64, {kSize, kSize});
      vectors.fill(basis), products.fill(product(basis, matrix, kSize));
      Twin &next = bench.output(DType::f64, {kSize, kSize}),
           &order = bench.output(DType::i64, {kSize}), &present = bench.output(DType::f64, {kSize});
      Workspace memory({kSize});
      bench.check(
          [&](Side side) {
            return EigenvectorStep{vectors(side), products(side), next(side),
                                   order(side),   present(side),  memory(side)};
          },
          1e-9);
      basis = next.sides[tested_side].values();
      expect_near(product(basis, basis, kSize, true), identity(kSize), 1e-13);
    }
    const Matrix turned = product(product(basis, matrix, kSize), basis, kSize, true);
    for (Index i = 0; i < kSize * kSize; ++i) {
      if (i % (kSize + 1) != 0) {
        EXPECT_NEAR(turned[static_cast<std::size_t>(i)], 0, 1e-6);
      }
    }
  }
}

}  // namespace eigenbasis_test
}  // namespace mpitron::kernels
