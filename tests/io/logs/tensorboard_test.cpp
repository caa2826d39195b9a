#include "io/logs/tensorboard.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <regex>
#include <vector>

#include <gtest/gtest.h>

#include "support/full_disk.h"
#include "support/temporary_folder.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::io {
namespace tensorboard_test {

template <class Value>
Value take(std::string_view& bytes) {
  if (bytes.size() < sizeof(Value)) {
    throw std::runtime_error("truncated");
  }
  Value value;
  std::memcpy(&value, bytes.data(), sizeof(Value));
  bytes.remove_prefix(sizeof(Value));
  return value;
}

std::string_view take_bytes(std::string_view& bytes, std::size_t size) {
  const std::string_view head = bytes.substr(0, size);
  if (head.size() < size) {
    throw std::runtime_error("truncated");
  }
  bytes.remove_prefix(size);
  return head;
}

std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = take<unsigned char>(bytes);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      return value;
    }
  }
}

/// A protobuf message: raw bytes of every field (varints as 8 bytes).
std::map<unsigned, std::string> decode(std::string_view message) {
  std::map<unsigned, std::string> fields;
  while (!message.empty()) {
    const std::uint64_t key = take_varint(message);
    std::string& field = fields[static_cast<unsigned>(key >> 3)];
    switch (key & 7) {
      case 0: {
        const std::uint64_t value = take_varint(message);
        field.assign(reinterpret_cast<const char*>(&value), 8);
        break;
      }
      case 1:
        field = take_bytes(message, 8);
        break;
      case 2: {
        const std::uint64_t size = take_varint(message);
        field = take_bytes(message, size);
        break;
      }
      case 5:
        field = take_bytes(message, 4);
        break;
      default:
        throw std::runtime_error("unknown wire type");
    }
  }
  return fields;
}

template <class Value>
Value as(const std::string& field) {
  std::string_view bytes = field;
  return take<Value>(bytes);
}

std::vector<std::map<unsigned, std::string>> read_events(const std::filesystem::path& path) {
  const std::string file = read_file(path);
  std::string_view bytes = file;
  std::vector<std::map<unsigned, std::string>> events;
  while (!bytes.empty()) {
    const std::string_view length = take_bytes(bytes, 8);
    EXPECT_EQ(take<std::uint32_t>(bytes), masked_crc32c(length));
    const std::string_view payload = take_bytes(bytes, as<std::uint64_t>(std::string(length)));
    EXPECT_EQ(take<std::uint32_t>(bytes), masked_crc32c(payload));
    events.push_back(decode(payload));
  }
  return events;
}

TEST(TensorboardWriter, EventsReadBack) {
  const test::TemporaryFolder folder;
  std::filesystem::path path;
  {
    TensorboardWriter writer(folder.path() / "tb" / "run");
    path = writer.path();
    writer.add_scalar("lm loss", 2.5, 301);
    writer.add_scalar("learning-rate vs samples", 1e-4, std::int64_t{1} << 40);
    writer.add_text("lr", "0.0001", 0);
  }
  const auto events = read_events(path);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].at(3), "brain.Event:2");
  EXPECT_GT(as<double>(events[0].at(1)), 1.6e9);
  const auto loss = decode(decode(events[1].at(5)).at(1));
  EXPECT_EQ(as<std::int64_t>(events[1].at(2)), 301);
  EXPECT_EQ(loss.at(1), "lm loss");
  EXPECT_EQ(as<float>(loss.at(2)), 2.5F);
  EXPECT_EQ(as<std::int64_t>(events[2].at(2)), std::int64_t{1} << 40);
  const auto text = decode(decode(events[3].at(5)).at(1));
  EXPECT_EQ(decode(text.at(8)).at(8), "0.0001");
  EXPECT_EQ(decode(decode(text.at(9)).at(1)).at(1), "text");
}

TEST(TensorboardWriter, FileNamesAreTensorboards) {
  const test::TemporaryFolder folder;
  const TensorboardWriter first(folder.path());
  const TensorboardWriter second(folder.path());
  EXPECT_NE(first.path(), second.path());
  const std::regex pattern(R"(events\.out\.tfevents\.\d{10}\.[^/]+\.\d+\.\d+)");
  EXPECT_TRUE(std::regex_match(first.path().filename().string(), pattern)) << first.path();
}

TEST(TensorboardWriter, QueueIsWrittenWhenFull) {
  const test::TemporaryFolder folder;
  TensorboardWriter writer(folder.path(), 3);
  const auto size = [&] { return std::filesystem::file_size(writer.path()); };
  const auto header = size();
  writer.add_scalar("x", 1, 1);
  writer.add_scalar("x", 2, 2);
  EXPECT_EQ(size(), header);
  writer.add_scalar("x", 3, 3);
  EXPECT_GT(size(), header);
  EXPECT_EQ(read_events(writer.path()).size(), 4U);
}

TEST(TensorboardWriter, AFullDiskLeavesEventsOutAndNothingElse) {
  const test::TemporaryFolder folder;
  TensorboardWriter writer(folder.path());
  for (int step = 1; step <= 100; ++step) {  // more than what is said below
    writer.add_scalar("x", 1, step);
  }
  writer.flush();
  const test::FullDisk full(std::filesystem::file_size(writer.path()) + 5);
  ::testing::internal::CaptureStderr();
  for (int step = 101; step <= 102; ++step) {
    writer.add_scalar("x", 1, step);
    writer.flush();
  }
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  full.is_emptied();
  writer.add_scalar("x", 1, 103);
  writer.flush();
  EXPECT_EQ(read_events(writer.path()).size(), 102U);
}

TEST(TensorboardWriter, SaysWhereItCannotWrite) {
  const test::TemporaryFolder folder;
  {
    AtomicFile file(folder.path() / "file");
    file.commit();
  }
  EXPECT_THROW(TensorboardWriter(folder.path() / "file"), Error);
}

}  // namespace tensorboard_test
}  // namespace mpitron::io
