#pragma once
#include "inference/grammar/pattern.h"

namespace mpitron::inference {

/// Returns the language of a grammar as llama.cpp and xgrammar write them (GBNF): rules
/// `name ::= alternatives`, of which `root` is the whole; texts in quotes, classes in brackets,
/// `.`, groups, `*`, `+`, `?`, `{m,n}`, names of rules, and comments behind `#`. Error(data) with
/// the line for anything else, and for names without a rule.
Grammar parsed_grammar(std::string_view text);

}  // namespace mpitron::inference
