#pragma once
#include <cstdint>
#include <string_view>

namespace mpitron::tokenizers {

/// Walks through the fields of one protobuf message in memory, without a schema and without
/// copying. Every length is checked. Error(data) with the byte offset for broken bytes.
class ProtobufReader {
 public:
  /// A field as the wire has it; which of its members counts follows from the schema.
  struct Field {
    std::uint64_t number = 0;
    std::uint64_t integer = 0;  // varints and fixed-size numbers, as they are stored
    std::string_view bytes;     // strings, byte strings, messages

    bool boolean() const { return integer != 0; }
    float single() const;  // a fixed 32-bit field
  };

  explicit ProtobufReader(std::string_view message) : message_(message) {}

  /// Reads the next field; false at the end of the message.
  bool next(Field& field);

 private:
  std::uint64_t varint();
  std::uint64_t fixed(std::size_t bytes);
  std::string_view take(std::uint64_t bytes);

  std::string_view message_;
  std::size_t at_ = 0;
};

}  // namespace mpitron::tokenizers
