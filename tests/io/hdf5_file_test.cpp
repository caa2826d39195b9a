#include "io/hdf5_file.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::io {
namespace {

TEST(Hdf5File, SaysWhatHdf5Says) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "a.h5";
  try {
    const Hdf5File file(path, Hdf5File::Mode::read);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    const std::string text = error.what();
    EXPECT_NE(text.find(path.string()), text.npos) << text;
    EXPECT_NE(text.find("No such file"), text.npos) << text;
  }
}

TEST(Hdf5File, WhatNoFileOfOursHoldsIsRefused) {
  const testing::TemporaryFolder folder;
  Hdf5File file(folder.path() / "a.h5", Hdf5File::Mode::create);
  file.create_data_set({.name = "twice", .shape = {2}});
  EXPECT_THROW(file.create_data_set({.name = "twice", .shape = {2}}), Error);
  file.create_data_set({.name = "matrix", .shape = {2, 2}, .dtype = DType::u8});
  EXPECT_THROW(file.read_bytes("matrix"), Error);
  EXPECT_THROW(file.read_bytes("twice"), Error);
  EXPECT_THROW(file.attributes("nowhere"), Error);
  file.write_extents("table", std::vector<Extent>(3));
  EXPECT_THROW(file.data_sets({}), Error);
}

TEST(Hdf5File, AttributesAreReplaced) {
  const testing::TemporaryFolder folder;
  Hdf5File file(folder.path() / "a.h5", Hdf5File::Mode::create);
  file.set_attributes("/", {{"a", Index{1}}, {"b", 2.5}});
  file.set_attributes("/", {{"a", std::string("text")}, {"c", Index{-1}}});
  const Attributes expected = {{"a", std::string("text")}, {"b", 2.5}, {"c", Index{-1}}};
  EXPECT_EQ(file.attributes("/"), expected);
}

TEST(Hdf5File, TellsWhereItsDataSetsLie) {
  const testing::TemporaryFolder folder;
  Hdf5File file(folder.path() / "a.h5", Hdf5File::Mode::create);
  const Index numbers = file.create_data_set({.name = "group/numbers", .shape = {5}});
  file.create_data_set({.name = "none", .shape = {0}, .dtype = DType::u16});
  EXPECT_EQ(numbers % 4096, 0);
  const std::vector<DataSet> expected = {
      {.name = "group/numbers", .shape = {5}, .dtype = DType::f32, .offset = numbers},
      {.name = "none", .shape = {0}, .dtype = DType::u16, .offset = 0}};
  EXPECT_EQ(file.data_sets({}), expected);
}

}  // namespace
}  // namespace mpitron::io
