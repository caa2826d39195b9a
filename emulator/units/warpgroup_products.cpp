// Emulates wgmma. A product is noted when it begins, its accumulators are filled with a marked NaN,
// and it is executed when the warpgroup waits: who reads too early gets NaN, and who has written
// too early is found by the missing mark.
#include "emulator/units/warpgroup_products.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "emulator/units/grid.h"
#include "emulator/units/matrix_unit.h"

namespace mpitron::emulator {
namespace {

constexpr int kThreads = 128, kDepth = 16, kRows = 64;
constexpr std::uint32_t kUnderWay = 0x7fa5cafe;  // a signalling NaN: arithmetic changes its bits

struct BegunProduct {
  std::array<WarpgroupProduct, kThreads> threads;
  std::array<std::array<std::uint32_t, 4>, kThreads> words;  // of a as they were
};

struct Accumulators {
  std::vector<float> values;  // of d as products leave them
  int users = 0;              // products under way
};

struct Warpgroup {
  bool fenced = false;
  std::vector<BegunProduct> uncommitted;
  std::deque<std::vector<BegunProduct>> groups;
  std::map<float*, Accumulators> under_way;
};

std::map<std::size_t, Warpgroup>& warpgroups() {
  static thread_local std::map<std::size_t, Warpgroup> all;
  return all;
}
Warpgroup& warpgroup() {
  return warpgroups()[warpgroup_number()];
}

/// A matrix in shared memory as its descriptor tells (PTX ISA, wgmma: matrix descriptor format,
/// shared memory layout), of 16-bit elements swizzled in 128 bytes.
class SharedMatrix {
 public:
  explicit SharedMatrix(std::uint64_t descriptor)
      : start_((descriptor & 0x3fff) << 4),
        leading_((descriptor >> 16 & 0x3fff) << 4),
        stride_((descriptor >> 32 & 0x3fff) << 4) {
    if (descriptor >> 62 != 1 || (descriptor >> 49 & 7) != 0) {
      fail_thread("a matrix descriptor asks for other than swizzling in 128 bytes, base offset 0");
    }
  }
  /// Reads an element of K-major form: rows of 128 bytes hold columns of the depth; eight rows make
  /// an atom.
  std::uint16_t with_depth_in_rows(int line, int depth) const {
    return at(start_ + static_cast<std::size_t>(line / 8) * stride_ +
              static_cast<std::size_t>(line % 8) * 128 + static_cast<std::size_t>(depth) * 2);
  }
  /// Reads an element of MN-major form: 64 lines in 128 bytes, eight of the depth make an atom.
  std::uint16_t with_lines_in_rows(int line, int depth) const {
    return at(start_ + static_cast<std::size_t>(line / 64) * leading_ +
              static_cast<std::size_t>(line % 64) * 2 +
              static_cast<std::size_t>(depth / 8) * stride_ +
              static_cast<std::size_t>(depth % 8) * 128);
  }

 private:
  static std::uint16_t at(std::size_t address) {
    const std::size_t swizzled = address ^ (address >> 7 & 7) << 4;
    std::uint16_t element = 0;
    std::memcpy(&element, at_shared_address(swizzled, 2), 2);
    return element;
  }
  std::size_t start_, leading_, stride_;
};

/// Give the row and column of number e of four that a thread holds of 64 x 8 (d), or the word e of
/// 64 x 16 (a): PTX ISA, wgmma: register fragments.
int row_of(int thread, int half) {
  return thread / 32 * 16 + thread % 32 / 4 + 8 * half;
}
int column_of(int thread) {
  return thread % 4 * 2;
}

void read_a(const BegunProduct& product, float (&a)[kRows][kDepth]) {
  const WarpgroupProduct& any = product.threads[0];
  if (any.words == nullptr) {
    const SharedMatrix matrix(any.a);
    for (int i = 0; i < kRows; ++i) {
      for (int k = 0; k < kDepth; ++k) {
        a[i][k] = any.number(matrix.with_depth_in_rows(i, k));
      }
    }
    return;
  }
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int e = 0; e < 4; ++e) {
      const std::uint32_t word =
          product.words[static_cast<std::size_t>(thread)][static_cast<std::size_t>(e)];
      const int row = row_of(thread, e % 2), column = column_of(thread) + e / 2 * 8;
      a[row][column] = any.number(static_cast<std::uint16_t>(word));
      a[row][column + 1] = any.number(static_cast<std::uint16_t>(word >> 16));
    }
  }
}

/// Reads b into rows of n.
void read_b(const WarpgroupProduct& product, float* b) {
  const SharedMatrix matrix(product.b);
  for (int k = 0; k < kDepth; ++k) {
    for (int j = 0; j < product.n; ++j) {
      *b++ = product.number(product.rows_are_depth ? matrix.with_lines_in_rows(j, k)
                                                   : matrix.with_depth_in_rows(j, k));
    }
  }
}

/// Ends the program where words of a have changed since the product began: registers must not be
/// reused before the wait.
void check_words(const BegunProduct& product) {
  for (std::size_t i = 0; i < kThreads; ++i) {
    const std::uint32_t* const words = product.threads[i].words;
    if (words != nullptr && !std::equal(words, words + 4, product.words[i].begin())) {
      fail_thread("registers of a product's operand changed before it was waited for");
    }
  }
}

void execute(Warpgroup& group, const BegunProduct& product) {
  check_words(product);
  const WarpgroupProduct& any = product.threads[0];
  const auto n = static_cast<std::size_t>(any.n);
  float a[kRows][kDepth];
  std::vector<float> b(kDepth * n), sums(kRows * n);
  read_a(product, a);
  read_b(any, b.data());
  const auto accumulators_of = [&](int thread) -> Accumulators& {
    return group.under_way[product.threads[static_cast<std::size_t>(thread)].d];
  };
  // f(value, sum) for the accumulators of all threads and where they lie.
  const auto for_sums = [&](auto&& f) {
    for (int thread = 0; thread < kThreads; ++thread) {
      float* value = accumulators_of(thread).values.data();
      for (int i = 0; i < any.n / 2; ++i) {
        const int row = row_of(thread, i / 2 % 2), column = i / 4 * 8 + column_of(thread) + i % 2;
        f(value[i], sums[static_cast<std::size_t>(row * any.n + column)]);
      }
    }
  };
  if (any.add) {
    for_sums([](float value, float& sum) { sum = value; });
  }
  add_products(kMatrixUnit, sums.data(), a[0], b.data(), kRows, any.n, kDepth);
  for_sums([](float& value, float sum) { value = sum; });
  for (int thread = 0; thread < kThreads; ++thread) {
    --accumulators_of(thread).users;
  }
}

/// Gives the threads those accumulators that no product uses any more.
void return_accumulators(Warpgroup& group) {
  std::erase_if(group.under_way, [](const auto& entry) {
    const auto& [place, d] = entry;
    if (d.users > 0) {
      return false;
    }
    for (std::size_t i = 0; i < d.values.size(); ++i) {
      if (std::memcmp(place + i, &kUnderWay, sizeof kUnderWay) != 0) {
        fail_thread("accumulators changed before their product was waited for");
      }
      place[i] = d.values[i];
    }
    return true;
  });
}

void begin(Warpgroup& group, WarpgroupProduct* const threads[kThreads]) {
  if (!group.fenced) {
    fail_thread("a group of products begins without a fence");
  }
  BegunProduct product;
  for (std::size_t i = 0; i < kThreads; ++i) {
    const WarpgroupProduct& thread = *threads[i];
    if (!thread.same(*threads[0])) {
      fail_thread("threads of a warpgroup ask for different products");
    }
    product.threads[i] = thread;
    if (thread.words != nullptr) {
      std::copy_n(thread.words, 4, product.words[i].begin());
    }
    Accumulators& d = group.under_way[thread.d];
    if (d.values.empty()) {
      d.values.assign(thread.d, thread.d + thread.n / 2);
      for (int k = 0; k < thread.n / 2; ++k) {
        std::memcpy(thread.d + k, &kUnderWay, sizeof kUnderWay);
      }
    } else if (static_cast<int>(d.values.size()) != thread.n / 2) {
      fail_thread("accumulators are used by products of different shapes");
    }
    ++d.users;
  }
  group.uncommitted.push_back(product);
}

}  // namespace

void begin_product(WarpgroupProduct& mine) {
  meet_warpgroup(mine,
                 [](WarpgroupProduct* const threads[kThreads]) { begin(warpgroup(), threads); });
}

void fence_products() {
  int nothing = 0;
  meet_warpgroup(nothing, [](int* const*) { warpgroup().fenced = true; });
}

void commit_products() {
  int nothing = 0;
  meet_warpgroup(nothing, [](int* const*) {
    Warpgroup& group = warpgroup();
    group.groups.push_back(std::exchange(group.uncommitted, {}));
    group.fenced = false;
  });
}

void wait_for_products(int open) {
  meet_warpgroup(open, [](int* const threads[kThreads]) {
    Warpgroup& group = warpgroup();
    const auto left = static_cast<std::size_t>(*threads[0]);
    for (; group.groups.size() > left; group.groups.pop_front()) {
      for (const BegunProduct& product : group.groups.front()) {
        execute(group, product);
      }
    }
    return_accumulators(group);
  });
}

void begin_block_of_products() {
  warpgroups().clear();
}
void end_block_of_products() {
  for (const auto& [number, group] : warpgroups()) {
    if (!group.uncommitted.empty() || !group.groups.empty()) {
      fail_thread("the block ends with products that nobody has waited for");
    }
  }
}

}  // namespace mpitron::emulator
