#pragma once
#include <algorithm>
#include <span>

#include <gtest/gtest.h>

#include "config/flags.h"
#include "config/rules/constraint.h"

namespace mpitron::test {

/// One broken rule and the smallest change of the base run that breaks it.
struct RuleCase {
  const char* flags;
  const char* id;
  const char* in_message;
};

/// Each case is found, with the words that it must say.
inline void expect_broken(std::span<const RuleCase> cases) {
  for (const RuleCase& broken : cases) {
    const config::ParsedRun parsed = parse_base(broken.flags);
    EXPECT_TRUE(has_finding(parsed, broken.id)) << broken.flags << "\n" << all_findings(parsed);
    EXPECT_NE(all_findings(parsed).find(broken.in_message), std::string::npos)
        << broken.flags << "\n"
        << all_findings(parsed);
  }
}

/// Every rule is broken by one of the cases.
inline void expect_examples(std::span<const config::Constraint> rules,
                            std::span<const RuleCase> cases) {
  for (const config::Constraint& rule : rules) {
    const bool found =
        std::ranges::any_of(cases, [&](const RuleCase& c) { return c.id == rule.id; });
    EXPECT_TRUE(found || rule.id == "E010") << rule.id << " " << rule.name;
  }
}

}  // namespace mpitron::test
