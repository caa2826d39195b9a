#include "io/arrays/pickle_stack.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::io {
namespace pickle_stack_test {

/// What opcodes may do, for tests.
struct Stack : PickleStack {
  explicit Stack(std::deque<PickleValue>& all) : PickleStack({}, kSource, all) {}
  using PickleStack::add_items, PickleStack::floor, PickleStack::get, PickleStack::make,
      PickleStack::marks_, PickleStack::pop, PickleStack::pop_to_mark, PickleStack::push,
      PickleStack::push_tuple, PickleStack::put, PickleStack::set_items, PickleStack::stack_,
      PickleStack::top;
  static const inline std::string kSource = "x.pkl";
};

TEST(PickleStack, ValuesBelowAMarkAreOutOfReach) {
  std::deque<PickleValue> values;
  Stack stack(values);
  stack.push(stack.make(PickleValue::Kind::none));
  stack.marks_.push_back(stack.stack_.size());
  EXPECT_THROW(stack.pop(), Error);
  EXPECT_THROW(stack.top(), Error);
  stack.push(stack.make(PickleValue::Kind::list));
  EXPECT_EQ(stack.pop_to_mark().size(), 1u);
  EXPECT_EQ(stack.floor(), 0u);
  EXPECT_EQ(stack.pop()->kind, PickleValue::Kind::none);
  EXPECT_THROW(stack.pop_to_mark(), Error);
}

TEST(PickleStack, ItemsGoIntoWhatLiesBelowThem) {
  std::deque<PickleValue> values;
  Stack stack(values);
  const auto none = [&] { return stack.make(PickleValue::Kind::none); };
  stack.push(stack.make(PickleValue::Kind::list));
  stack.add_items({none(), none()});
  EXPECT_EQ(stack.top()->items.size(), 2u);
  EXPECT_THROW(stack.set_items({none(), none()}), Error);
  stack.push(stack.make(PickleValue::Kind::dict));
  stack.set_items({none(), none()});
  EXPECT_EQ(stack.top()->entries.size(), 2u);
  EXPECT_THROW(stack.set_items({none()}), Error);
  stack.push_tuple(2);
  EXPECT_EQ(stack.top()->items[1]->kind, PickleValue::Kind::dict);
}

TEST(PickleStack, RemembersTheTop) {
  std::deque<PickleValue> values;
  Stack stack(values);
  stack.push(stack.make(PickleValue::Kind::text));
  stack.put(3);
  stack.get(3);
  const PickleValue* last = stack.pop();
  EXPECT_EQ(last, stack.pop());
  EXPECT_THROW(stack.get(4), Error);
}

}  // namespace pickle_stack_test
}  // namespace mpitron::io
