#include "config/resolve/unused_options.h"

#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace unused_options_test {

struct Case {
  const char *flags, *notice, *partner;  // the partner's flags silence the notice
};

constexpr Case kCases[] = {
    {"--muon-momentum 0.5", "--muon-momentum has no effect without --optimizer muon",
     "--optimizer muon"},
    {"--optimizer lion --lion-beta1 0.5", "--lion-beta1 has no effect without --optimizer muon",
     "--optimizer muon --muon-scalar-optimizer lion"},
    {"--optimizer muon --adaptive-muon-beta2 0.9",
     "--adaptive-muon-beta2 has no effect without --optimizer adaptive_muon",
     "--optimizer adaptive_muon"},
    {"--soap-shampoo-beta 0.9", "--soap-shampoo-beta has no effect without --optimizer soap",
     "--optimizer soap"},
    {"--qk-clip-alpha 0.3", "--qk-clip-alpha has no effect without --qk-clip", "--qk-clip"},
    {"--mup-base-hidden-size 32", "--mup-base-hidden-size has no effect without --use-mup",
     "--use-mup"},
    {"--fim-rate 0.3", "--fim-rate has no effect without --fim-data", "--fim-data"},
    {"--linear-num-key-heads 4", "--linear-num-key-heads has no effect without --experimental",
     "--experimental-attention-variant gated_delta_net"},
    {"--model mamba --linear-num-key-heads 4", "--linear-num-key-heads has no effect",
     "--hybrid-layer-pattern G*"},
    {"--moe-router-topk 2", "--moe-router-topk has no effect without --num-experts",
     "--num-experts 4"},
    {"--experimental-attention-variant gated_delta_net --linear-attention-freq 2",
     "the norm behind a delta net", "--normalization RMSNorm"},
    {"--loss-scale 8", "--loss-scale has no effect in fp32", "--bf16"},
};

bool tells(const std::string& flags, const std::string& notice) {
  const ParsedRun parsed = test::parse_base(flags);
  return std::ranges::any_of(parsed.notices, [&](const std::string& told) {
    return told.find(notice) != std::string::npos;
  });
}

TEST(UnusedOptions, AreToldUnlessTheirPartnerIsThere) {
  for (const Case& c : kCases) {
    EXPECT_TRUE(tells(c.flags, c.notice)) << c.flags;
    EXPECT_FALSE(tells(std::string(c.flags) + " " + c.partner, c.notice)) << c.flags;
  }
}

TEST(UnusedOptions, DefaultsAreNotTold) {
  EXPECT_TRUE(test::parse_base("").notices.empty());
}

}  // namespace unused_options_test
}  // namespace mpitron::config
