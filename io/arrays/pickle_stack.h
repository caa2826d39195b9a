#pragma once
#include <unordered_map>

#include "io/arrays/byte_reader.h"
#include "io/arrays/pickle.h"

namespace mpitron::io {

/// The stack of the machine that pickles are programs for: values, marks between them, values that
/// are remembered, and the operations that opcodes of several kinds share.
class PickleStack {
 public:
  using Item = PickleValue*;
  using Kind = PickleValue::Kind;

  PickleStack(std::span<const std::byte> bytes, const std::string& source,
              std::deque<PickleValue>& values)
      : in_(bytes, source), values_(values) {}

 protected:
  [[noreturn]] void fail(std::string_view expected) const {
    in_.fail(fmt::format("{} for the pickle opcode", expected), opcode_);
  }

  // Of 152 bytes each: together they stay below 1 GB.
  static constexpr std::size_t kMostValues = 5'000'000;

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

  void put(std::uint64_t index) { memo_[index] = top(); }
  void get(std::uint64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) {
      fail("a value that was remembered");
    }
    push(found->second);
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

  ByteReader in_;
  std::deque<PickleValue>& values_;
  std::vector<Item> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Item> memo_;
  std::uint8_t opcode_ = 0;
};

}  // namespace mpitron::io
