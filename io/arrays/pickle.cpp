#include "io/arrays/pickle.h"

#include <unordered_map>

#include "io/arrays/byte_reader.h"
#include "io/arrays/pickle_opcodes.h"

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
using Kind = PickleValue::Kind;

// Of 152 bytes each: together they stay below 1 GB.
constexpr std::size_t kMostValues = 5'000'000;
constexpr int kNewestProtocol = 5;

/// The stack machine that pickles are programs for.
class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& source,
          std::deque<PickleValue>& values)
      : in_(bytes, source), values_(values) {}

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
  using Item = PickleValue*;

  [[noreturn]] void fail(std::string_view expected) const {
    in_.fail(fmt::format("{} for the pickle opcode", expected), opcode_);
  }

  Item make(Kind kind) {
    if (values_.size() >= kMostValues) {
      fail("at most 5 million values");
    }
    values_.emplace_back();
    values_.back().kind = kind;
    return &values_.back();
  }
  void push(Item value) { stack_.push_back(value); }
  Item pop() {
    if (stack_.size() <= floor()) {
      fail("a value on the stack");
    }
    const Item value = stack_.back();
    stack_.pop_back();
    return value;
  }
  Item top() {
    if (stack_.size() <= floor()) {
      fail("a value on the stack");
    }
    return stack_.back();
  }
  /// Values above the last mark belong to what is being built.
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  std::vector<const PickleValue*> pop_to_mark() {
    if (marks_.empty()) {
      fail("a mark on the stack");
    }
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<const PickleValue*> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }

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

  void push_items(Kind kind, std::vector<const PickleValue*> items) {
    const Item item = make(kind);
    (kind == Kind::dict ? item->entries : item->items) = std::move(items);
    push(item);
  }
  void push_tuple(std::size_t size) {
    std::vector<const PickleValue*> items(size);
    for (std::size_t i = size; i-- > 0;) {
      items[i] = pop();
    }
    push_items(Kind::tuple, std::move(items));
  }
  void add_items(const std::vector<const PickleValue*>& items) {
    const Item target = top();
    const bool list = target->kind == Kind::list;
    if (!list && target->kind != Kind::object) {
      fail("a list below its items");
    }
    auto& into = list ? target->items : target->entries;
    into.insert(into.end(), items.begin(), items.end());
  }
  void set_items(const std::vector<const PickleValue*>& items) {
    const Item target = top();
    if (items.size() % 2 != 0 || (target->kind != Kind::dict && target->kind != Kind::object)) {
      fail("a dictionary below pairs of key and value");
    }
    target->entries.insert(target->entries.end(), items.begin(), items.end());
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

  void put(std::uint64_t index) { memo_[index] = top(); }
  void get(std::uint64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) {
      fail("a value that was remembered");
    }
    push(found->second);
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

  void push_global(std::string_view module, std::string_view member) {
    const Item item = make(Kind::global);
    item->text = module;
    item->member = member;
    push(item);
  }
  /// What the call `callable(*arguments)` would make, as data.
  void push_object() {
    const Item arguments = pop(), callable = pop();
    if (callable->global_name() == "collections.OrderedDict" && arguments->items.empty()) {
      push(make(Kind::dict));
      return;
    }
    const Item item = make(Kind::object);
    item->callable = callable;
    item->arguments = arguments;
    push(item);
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

  ByteReader in_;
  std::deque<PickleValue>& values_;
  std::vector<Item> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Item> memo_;
  std::uint8_t opcode_ = 0;
};

}  // namespace

const PickleValue* run_pickle(std::span<const std::byte> bytes, const std::string& source,
                              std::deque<PickleValue>& values) {
  return Machine(bytes, source, values).run();
}

}  // namespace mpitron::io
