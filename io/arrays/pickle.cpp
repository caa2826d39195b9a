#include "io/arrays/pickle.h"

#include "io/arrays/pickle_opcodes.h"
#include "io/arrays/pickle_stack.h"

// A pickle is a program for a stack machine. This one builds a tree of nodes and calls nothing:
// classes and functions are names that the reader of the tree may know or not, so a hostile file
// can do no more than be refused.

namespace mpitron::io {

std::string PickleValue::global_name() const {
  if (kind == Kind::global) {
    return std::string(text) + "." + std::string(member);
  }
  const bool of_global =
      kind == Kind::object && callable != nullptr && callable->kind == Kind::global;
  return of_global ? callable->global_name() : "";
}

const PickleValue* PickleValue::find(std::string_view key) const {
  const PickleValue* dict =
      kind == Kind::object && state != nullptr && state->kind == Kind::dict ? state : this;
  for (std::size_t i = 0; i + 1 < dict->entries.size(); i += 2) {
    if (dict->entries[i]->kind == Kind::text && dict->entries[i]->text == key) {
      return dict->entries[i + 1];
    }
  }
  return nullptr;
}

Pickle::Pickle(std::span<const std::byte> bytes, std::string source) : source_(std::move(source)) {
  root_ = run_pickle(bytes, source_, values_);
}

namespace {

using namespace pickle_opcodes;

constexpr int kNewestProtocol = 5;

/// What each opcode does to the stack.
class Machine : private PickleStack {
 public:
  using PickleStack::PickleStack;

  const PickleValue* run() {
    for (;;) {
      opcode_ = in_.number<std::uint8_t>();
      if (opcode_ == kStop) {
        return pop();
      }
      if (!constant() && !text() && !container() && !memo() && !object()) {
        fail("an opcode that describes data");
      }
    }
  }

 private:
  void push_integer(std::int64_t value, Kind kind = Kind::integer) {
    const Item item = make(kind);
    item->integer = value;
    push(item);
  }
  /// Two's complement of any length; beyond 64 bits no count, size or option can be meant.
  void push_long(std::uint64_t size) {
    const auto bytes = in_.take(size);
    if (size > sizeof(std::int64_t)) {
      push(make(Kind::object));
      return;
    }
    std::uint64_t value =
        size > 0 && (std::to_integer<unsigned>(bytes.back()) & 0x80u) ? ~std::uint64_t{0} : 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = (value << 8) | std::to_integer<std::uint64_t>(bytes[i]);
    }
    push_integer(static_cast<std::int64_t>(value));
  }
  void push_big_endian_real() {
    const auto bytes = in_.take(sizeof(double));
    std::uint64_t bits = 0;
    for (const std::byte byte : bytes) {
      bits = (bits << 8) | std::to_integer<std::uint64_t>(byte);
    }
    const Item item = make(Kind::real);
    std::memcpy(&item->real, &bits, sizeof(double));
    push(item);
  }

  bool constant() {
    switch (opcode_) {
      case kProtocol:
        if (in_.number<std::uint8_t>() > kNewestProtocol) {
          fail("protocol 2 to 5");
        }
        return true;
      case kFrame:
        in_.number<std::uint64_t>();  // a hint for streams
        return true;
      case kNone:
        push(make(Kind::none));
        return true;
      case kNewTrue:
      case kNewFalse:
        push_integer(opcode_ == kNewTrue, Kind::boolean);
        return true;
      case kBinInt:
        push_integer(in_.number<std::int32_t>());
        return true;
      case kBinInt1:
        push_integer(in_.number<std::uint8_t>());
        return true;
      case kBinInt2:
        push_integer(in_.number<std::uint16_t>());
        return true;
      case kLong1:
        push_long(in_.number<std::uint8_t>());
        return true;
      case kLong4:
        push_long(in_.number<std::uint32_t>());
        return true;
      case kBinFloat:
        push_big_endian_real();
        return true;
      default:
        return false;
    }
  }

  void push_text(Kind kind, std::uint64_t size) {
    const Item item = make(kind);
    item->text = in_.text(size);
    push(item);
  }

  bool text() {
    switch (opcode_) {
      case kShortBinString:
      case kShortBinUnicode:
        push_text(Kind::text, in_.number<std::uint8_t>());
        return true;
      case kBinString:
      case kBinUnicode:
        push_text(Kind::text, in_.number<std::uint32_t>());
        return true;
      case kBinUnicode8:
        push_text(Kind::text, in_.number<std::uint64_t>());
        return true;
      case kShortBinBytes:
        push_text(Kind::bytes, in_.number<std::uint8_t>());
        return true;
      case kBinBytes:
        push_text(Kind::bytes, in_.number<std::uint32_t>());
        return true;
      case kBinBytes8:
      case kByteArray8:
        push_text(Kind::bytes, in_.number<std::uint64_t>());
        return true;
      default:
        return false;
    }
  }

  bool container() {
    switch (opcode_) {
      case kMark:
        marks_.push_back(stack_.size());
        return true;
      case kPop:
        if (!marks_.empty() && stack_.size() == marks_.back()) {
          marks_.pop_back();
        } else {
          pop();
        }
        return true;
      case kPopMark:
        pop_to_mark();
        return true;
      case kDup:
        push(top());
        return true;
      case kEmptyList:
      case kEmptySet:
        push(make(Kind::list));
        return true;
      case kEmptyTuple:
        push(make(Kind::tuple));
        return true;
      case kEmptyDict:
        push(make(Kind::dict));
        return true;
      case kList:
      case kFrozenSet:
        push_items(Kind::list, pop_to_mark());
        return true;
      case kTuple:
        push_items(Kind::tuple, pop_to_mark());
        return true;
      case kTuple1:
      case kTuple2:
      case kTuple3:
        push_tuple(static_cast<std::size_t>(opcode_ - kTuple1) + 1);
        return true;
      case kDict: {
        auto items = pop_to_mark();
        push(make(Kind::dict));
        set_items(items);
        return true;
      }
      case kAppend: {
        const Item item = pop();
        add_items({item});
        return true;
      }
      case kAppends:
      case kAddItems:
        add_items(pop_to_mark());
        return true;
      case kSetItem: {
        const Item value = pop(), key = pop();
        set_items({key, value});
        return true;
      }
      case kSetItems:
        set_items(pop_to_mark());
        return true;
      default:
        return false;
    }
  }

  bool memo() {
    switch (opcode_) {
      case kBinPut:
        put(in_.number<std::uint8_t>());
        return true;
      case kLongBinPut:
        put(in_.number<std::uint32_t>());
        return true;
      case kMemoize:
        put(memo_.size());
        return true;
      case kBinGet:
        get(in_.number<std::uint8_t>());
        return true;
      case kLongBinGet:
        get(in_.number<std::uint32_t>());
        return true;
      default:
        return false;
    }
  }

  bool object() {
    switch (opcode_) {
      case kGlobal: {
        const std::string_view module = in_.line();
        push_global(module, in_.line());
        return true;
      }
      case kStackGlobal: {
        const Item member = pop(), module = pop();
        if (member->kind != Kind::text || module->kind != Kind::text) {
          fail("the name of a global");
        }
        push_global(module->text, member->text);
        return true;
      }
      case kReduce:
      case kNewObject:
        push_object();
        return true;
      case kNewObjectWithKeywords:
        pop();
        push_object();
        return true;
      case kBuild: {
        const Item state = pop();
        top()->state = state;
        return true;
      }
      case kBinPersistentId: {
        const Item id = pop();
        const Item item = make(Kind::persistent);
        item->arguments = id;
        push(item);
        return true;
      }
      default:
        return false;
    }
  }
};

}  // namespace

const PickleValue* run_pickle(std::span<const std::byte> bytes, const std::string& source,
                              std::deque<PickleValue>& values) {
  return Machine(bytes, source, values).run();
}

}  // namespace mpitron::io
