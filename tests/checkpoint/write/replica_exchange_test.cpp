#include <fstream>

#include <gtest/gtest.h>

#include "checkpoint/write/local_ranks.h"
#include "utils/error.h"

namespace mpitron::checkpoint {
namespace replica_exchange_test {

TEST_F(LocalCheckpointsTest, WhatOneRankHasLostIsLostWithoutReplicas) {
  save(3);
  std::filesystem::remove_all(rank(2));
  expect_newest(std::nullopt);
}

TEST_F(LocalCheckpointsTest, ANodeThatLostItsCopyGetsItFromItsReplica) {
  save(3, 2);
  std::filesystem::remove_all(rank(2));
  std::filesystem::remove_all(rank(3));
  expect_newest(3, 2);
  EXPECT_EQ(Folder(rank(3)).iterations(), std::vector<Index>{3});
  std::filesystem::remove_all(rank(1));
  std::filesystem::remove_all(rank(3));  // both of a group
  expect_newest(std::nullopt, 2);
}

TEST_F(LocalCheckpointsTest, ADamagedFileIsReplacedByItsReplica) {
  save(5, 2);
  {
    const std::filesystem::path path = Folder(rank(0)).file(5);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path)) / 2);
    file.put('!');
  }
  expect_newest(5, 2);
}

}  // namespace replica_exchange_test

}  // namespace mpitron::checkpoint
