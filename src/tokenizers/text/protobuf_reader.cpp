#include "tokenizers/text/protobuf_reader.h"

#include <bit>

#include "utils/error.h"

// The wire format of protocol buffers: a tag of field number and wire type, then a varint, 4 or 8
// bytes, or a length and its bytes. Groups (wire types 3 and 4) are not used by the files read
// here.

namespace mpitron::tokenizers {

float ProtobufReader::Field::single() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(integer));
}

std::string_view ProtobufReader::take(std::uint64_t bytes) {
  if (bytes > message_.size() - at_) {
    throw_data("not a protobuf message: a field of {} bytes at byte {} goes past the end of {}",
               bytes, at_, message_.size());
  }
  const std::string_view taken = message_.substr(at_, bytes);
  at_ += bytes;
  return taken;
}

std::uint64_t ProtobufReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(1).front());
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  throw_data("not a protobuf message: a number at byte {} has more than 10 bytes", at_);
}

std::uint64_t ProtobufReader::fixed(std::size_t bytes) {
  std::uint64_t value = 0;
  int shift = 0;
  for (const char byte : take(bytes)) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(byte)) << shift;
    shift += 8;
  }
  return value;
}

bool ProtobufReader::next(Field& field) {
  if (at_ == message_.size()) {
    return false;
  }
  const std::uint64_t tag = varint();
  field = {.number = tag >> 3, .integer = 0, .bytes = {}};
  switch (tag & 7) {
    case 0:
      field.integer = varint();
      return true;
    case 1:
      field.integer = fixed(8);
      return true;
    case 2:
      field.bytes = take(varint());
      return true;
    case 5:
      field.integer = fixed(4);
      return true;
    default:
      throw_data("not a protobuf message: field {} at byte {} has the unknown wire type {}",
                 field.number, at_, tag & 7);
  }
}

}  // namespace mpitron::tokenizers
