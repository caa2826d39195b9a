#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_conversion_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--load a --ckpt-convert-format torch", "E118", "only one"},
    {"--ckpt-convert-save b --ckpt-convert-format torch", "E118", "nothing is loaded"},
    {"--moe-use-upcycling --load a --save b", "E173", "--num-experts N"},
    {"--num-experts 4 --disable-bias-linear --moe-use-upcycling --load a", "E173",
     "nothing is saved. Nearest: --load DENSE --save FOLDER"},
    {"--num-experts 4 --disable-bias-linear --moe-use-upcycling --save a", "E173",
     "nothing is loaded"},
    {"--num-experts 4 --disable-bias-linear --moe-use-upcycling --load a --save a", "E173",
     "same folder"},
    {"--num-experts 4 --disable-bias-linear --moe-use-upcycling --load a --save b --async-save",
     "E173", "leave out --async-save"},
    {"--num-experts 4 --disable-bias-linear --moe-use-upcycling --load a --save b "
     "--moe-upcycling-granularity 3",
     "E174", "4 % 3 = 1. Nearest: --moe-upcycling-granularity 2"},
    {"--num-experts 4 --disable-bias-linear --moe-use-upcycling --load a --save b "
     "--moe-upcycling-granularity 0",
     "E174", "0 parts"},
};

TEST(ConversionConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(ConversionConstraints, EveryRuleHasAnExample) {
  test::expect_examples(conversion_constraints(), kBroken);
}

}  // namespace constraints_conversion_test
}  // namespace mpitron::config
