#include "io/arrays/pickle.h"

#include <random>

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::io {
namespace pickle_test {

using namespace std::string_literals;
using Kind = PickleValue::Kind;

/// Keeps the text that the values view.
struct Read {
  explicit Read(std::string bytes)
      : text(std::move(bytes)), pickle(std::as_bytes(std::span(text)), "x.pkl") {}
  const PickleValue& root() const { return pickle.root(); }
  std::string text;
  Pickle pickle;
};

std::string error_of(const std::string& bytes) {
  try {
    const Read read(bytes);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Pickle, ReadsConstants) {
  EXPECT_EQ(Read("\x80\x02N."s).root().kind, Kind::none);
  EXPECT_EQ(Read("\x88."s).root().integer, 1);
  EXPECT_EQ(Read("K\xff."s).root().integer, 255);
  EXPECT_EQ(Read("M\x01\x02."s).root().integer, 513);
  EXPECT_EQ(Read("J\xff\xff\xff\xff."s).root().integer, -1);
  EXPECT_EQ(Read("\x8a\x02\x00\x80."s).root().integer, -32768);
  EXPECT_EQ(Read("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."s).root().kind, Kind::object);
  EXPECT_EQ(Read("G\x3f\xf8\0\0\0\0\0\0."s).root().real, 1.5);
  EXPECT_EQ(Read("X\x02\0\0\0hi."s).root().text, "hi");
}

TEST(Pickle, BuildsContainersAndRemembers) {
  // {"a": [1, 2], "b": (the same list, None)}
  const Read read("}(X\1\0\0\0a](K\1K\2eq\5X\1\0\0\0bh\5N\x86u."s);
  const PickleValue* list = read.root().find("a");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 2u);
  EXPECT_EQ(list->items[1]->integer, 2);
  ASSERT_NE(read.root().find("b"), nullptr);
  EXPECT_EQ(read.root().find("b")->items[0], list);
  EXPECT_EQ(read.root().find("c"), nullptr);
}

TEST(Pickle, KeepsCallsAsDataAndRunsNothing) {
  const Read read("cposix\nsystem\nX\4\0\0\0true\x85R."s);
  EXPECT_TRUE(read.root().is_object_of("posix.system"));
  EXPECT_EQ(read.root().arguments->items[0]->text, "true");
  const Read ordered("ccollections\nOrderedDict\n)RX\1\0\0\0aK\7s."s);
  EXPECT_EQ(ordered.root().find("a")->integer, 7);
  const Read space("cargparse\nNamespace\n)\x81}X\1\0\0\0aK\7sb."s);
  EXPECT_EQ(space.root().find("a")->integer, 7);
  EXPECT_EQ(space.root().global_name(), "argparse.Namespace");
}

TEST(Pickle, RefusesWhatIsMalformed) {
  EXPECT_NE(error_of(""), "");
  EXPECT_NE(error_of("."), "");
  EXPECT_NE(error_of("N"), "");
  EXPECT_NE(error_of("\x80\x09N."s), "");
  EXPECT_NE(error_of("h\x05."s), "");
  EXPECT_NE(error_of("K\1e."s), "");
  EXPECT_NE(error_of("}(K\1u."s), "");
  EXPECT_NE(error_of("(K\1K\2s."s), "") << "below the mark";
  EXPECT_NE(error_of("X\xff\xff\xff\x7f..."s), "");
  EXPECT_NE(error_of("I1\n."s).find("opcode"), std::string::npos);
}

/// Self reference is data like any other: nothing here walks it.
TEST(Pickle, ListMayContainItself) {
  const Read read("]q\0h\0a."s);
  EXPECT_EQ(read.root().items[0], &read.root());
}

/// A tuple that is used a thousand times is not copied a thousand times.
TEST(Pickle, MemoryIsBoundedByItsBytes) {
  std::string text = "cx\ny\nq\0("s + std::string(100'000, 'N') + "tq\1";
  for (int i = 0; i < 100'000; ++i) {
    text += "h\0h\1R0"s;
  }
  EXPECT_TRUE(Read(text + "h\0h\1R."s).root().is_object_of("x.y"));
}

TEST(Pickle, SurvivesRandomBytes) {
  std::mt19937 random(7);
  const std::string opcodes =
      "(.012JKMNQRTUXBCabcd}eGhjl]qrst)u\x80\x81\x85\x86\x87\x88\x8a\x8c\x93\x94\x90\x91\x92"s;
  int finished = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (unsigned n = random() % 40; n > 0; --n) {
      text +=
          random() % 4 == 0 ? static_cast<char>(random() % 8) : opcodes[random() % opcodes.size()];
    }
    finished += error_of(text + ".").empty() ? 1 : 0;
  }
  EXPECT_GT(finished, 20);
}

}  // namespace pickle_test
}  // namespace mpitron::io
