#include "kernels/host/attention/attention_pack.h"

#include "tests/kernels/vector_check.h"

namespace mpitron::kernels::host::attention {
namespace attention_pack_test {

/// A head of `size` columns in rows that lie apart, of which `valid` are there; all else is NaN.
template <class T>
class Head {
 public:
  Head(Index size, Index valid)
      : size_(size), valid_(valid), data_(static_cast<std::size_t>((valid + 1) * kStride), T(NAN)) {
    const auto values = test::test_values(valid * size, 3);
    for (Index i = 0; i < valid * size; ++i) {
      data_[static_cast<std::size_t>(i / size * kStride + i % size)] =
          T(static_cast<float>(values[static_cast<std::size_t>(i)]));
    }
  }
  HeadRows<const T> rows() const { return {data_.data(), kStride, valid_}; }
  T at(Index row, Index column) const {
    return row < valid_ && column < size_ ? rows().row(row)[column] : T(0.f);
  }
  /// Step `word` of a reduction over the columns.
  float along_row(Index row, Index word) const {
    return word_of(at(row, word * kPack<T>), at(row, word * kPack<T> + 1));
  }
  /// Step `word` of a reduction over the rows.
  float along_column(Index word, Index column) const {
    return word_of(at(word * kPack<T>, column), at(word * kPack<T> + 1, column));
  }

 private:
  static constexpr Index kStride = 307;
  static float word_of(T first, T second) {
    if constexpr (kPack<T> == 1) {
      return static_cast<float>(first);
    } else {
      return std::bit_cast<float>(std::array{first, second});
    }
  }
  Index size_, valid_;
  std::vector<T> data_;
};

/// Words that a packing has not written are NaN.
class Packed {
 public:
  explicit Packed(Index words) {
    lanes_.assign(static_cast<std::size_t>(words / 16), make_lanes([](int) { return NAN; }));
  }
  float* data() { return lanes_[0].data(); }
  float operator[](Index i) const {
    return lanes_[static_cast<std::size_t>(i / 16)][static_cast<int>(i % 16)];
  }

 private:
  std::vector<Lanes> lanes_;
};

template <class T, int D>
void check_rows(Index size, Index valid, Index rows) {
  const Head<T> head(size, valid);
  const HeadSize<T, D> extent(size);
  Packed to(rows * extent.words());
  pack_rows(to.data(), extent, head.rows(), rows);
  for (Index r = 0; r < rows; ++r) {
    for (Index w = 0; w < extent.words(); ++w) {
      ASSERT_TRUE(same_number(to[r * extent.words() + w], head.along_row(r, w))) << r << ", " << w;
    }
  }
}

template <class T, int D>
void check_panels(Index size, Index valid, Index rows) {
  const Head<T> head(size, valid);
  const HeadSize<T, D> extent(size);
  const Index steps = rows / kPack<T>;
  Packed to(extent.panels() * steps * kCols);
  const Index half = round_down(rows / 2, kRows);  // packed in two parts
  pack_panels(to.data(), extent, head.rows(), half, rows);
  const HeadRows<const T> all = head.rows(), rest{all.row(half), all.stride, all.valid - half};
  pack_panels(to.data() + half / kPack<T> * kCols, extent, rest, rows - half, rows);
  for (Index column = 0; column < extent.columns(); ++column) {
    for (Index step = 0; step < steps; ++step) {
      const float got = to[(column / kCols * steps + step) * kCols + column % kCols];
      ASSERT_TRUE(same_number(got, head.along_column(step, column))) << step << ", " << column;
    }
  }
  if (extent.rows_are_panel()) {
    Packed same(rows * extent.words());
    pack_rows(same.data(), extent, head.rows(), rows);
    for (Index i = 0; i < rows * extent.words(); ++i) {
      ASSERT_TRUE(same_number(same[i], to[i])) << i;
    }
  }
}

template <class T, int D>
void check_transposed(Index size, Index valid, Index rows) {
  const Head<T> head(size, valid);
  const HeadSize<T, D> extent(size);
  const HeadRows<const T> all = head.rows(), rest{all.row(kCols), all.stride, all.valid - kCols};
  for (const bool even : {false, true}) {
    const KeyPanels panels(valid, even);
    Packed to(rows * extent.words());
    pack_transposed(to.data(), extent, all, panels, 0, kCols);
    pack_transposed(to.data(), extent, rest, panels, kCols, rows);
    for (Index r = 0; r < panels.size(); ++r) {
      for (Index w = 0; w < extent.words(); ++w) {
        const float got = to[extent.transposed(panels.place(r)) + w * kCols];
        ASSERT_TRUE(same_number(got, head.along_row(r, w))) << r << ", " << w;
      }
    }
  }
}

template <class T, int D>
void check(Index size) {
  for (const Index valid : {1, 5, 63, 64, 97, 130}) {
    SCOPED_TRACE(::testing::Message() << "size " << size << ", " << valid << " rows");
    check_rows<T, D>(size, valid, round_up(valid, kRows));
    check_panels<T, D>(size, valid, round_up(valid, kRows));
    check_transposed<T, D>(size, valid, round_up(valid, kCols));
  }
}

template <class T>
void check_sizes() {
  for (const Index size : {1, 2, 15, 16, 17, 31, 33, 64, 65, 127, 160, 256}) {
    check<T, 0>(size);
  }
  check<T, 64>(64);
  check<T, 128>(128);
}

TEST(AttentionPack, Fp32) {
  check_sizes<float>();
}
TEST(AttentionPack, Bf16InPairs) {
  check_sizes<BFloat16>();
}
TEST(AttentionPack, Fp16Widened) {
  check_sizes<Float16>();
}

template <class T>
void check_extents() {
  for (Index size = 1; size <= 300; ++size) {
    const HeadSize<T, 0> head(size);
    EXPECT_GE(head.words() * kPack<T>, size);
    EXPECT_EQ(head.words() % 16, 0);
    EXPECT_GE(head.steps() * kPack<T>, size);
    EXPECT_LE(head.steps(), head.words());
    Index columns = 0, panels = 0;
    head.for_panels([&](Index panel, auto groups) {
      EXPECT_EQ(panel, panels++);
      EXPECT_EQ(columns, panel * kCols);
      columns += 16 * groups;
    });
    EXPECT_EQ(panels, head.panels());
    EXPECT_EQ(columns, head.columns());
    EXPECT_TRUE(size <= columns && columns < size + 16) << size;
  }
}

// A panel of one vector multiplies slowly, so none is left behind others.
TEST(AttentionPack, PanelsOfKeysAreWide) {
  for (Index keys = 1; keys <= 600; ++keys) {
    const KeyPanels panels(keys);
    EXPECT_EQ(panels.size(), round_up(keys, 16));
    for (Index first = 0, end = 0; first < keys; first = end) {
      end = panels.end(first);
      EXPECT_TRUE(end - first <= kCols && end % 16 == 0 && panels.place(first) % kCols == 0)
          << keys;
      EXPECT_TRUE(end - first > 16 || panels.size() == 16) << keys;
      for (Index key = first; key < end; ++key) {
        EXPECT_EQ(panels.end(key), end);
        EXPECT_EQ(panels.place(key) - panels.place(first), key - first);
      }
      EXPECT_LE(panels.place(end - 1), round_up(keys, kCols));
    }
  }
}

TEST(AttentionPack, PanelsCoverTheHead) {
  check_extents<float>();
  check_extents<BFloat16>();
}

TEST(AttentionPack, StoresEndWithTheHead) {
  for (Index size = 1; size <= 16; ++size) {
    std::array<BFloat16, 17> row;
    row.fill(BFloat16(7.f));
    HeadSize<BFloat16, 0>(size).store_columns(row.data(), 0, broadcast(2));
    for (Index i = 0; i < 17; ++i) {
      EXPECT_EQ(static_cast<float>(row[static_cast<std::size_t>(i)]), i < size ? 2 : 7);
    }
  }
}

}  // namespace attention_pack_test
}  // namespace mpitron::kernels::host::attention
