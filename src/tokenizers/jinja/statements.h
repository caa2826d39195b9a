#pragma once
#include "tokenizers/jinja/expressions.h"

namespace mpitron::tokenizers::jinja {

/// Text between tags.
struct Data : Statement {
  Data(int at, std::string of) : Statement(at), text(std::move(of)) {}
  Flow run(Run& run) const override;
  std::string text;
};

/// `{{ value }}`.
struct Output : Statement {
  Output(int at, ExpressionPtr of) : Statement(at), value(std::move(of)) {}
  Flow run(Run& run) const override;
  ExpressionPtr value;
};

/// `{% if %}` with `elif` as further branches and `else`.
struct If : Statement {
  using Statement::Statement;
  Flow run(Run& run) const override;
  std::vector<std::pair<ExpressionPtr, Block>> branches;
  Block otherwise;
};

/// `{% for target in items if condition %}`; `otherwise` runs where no item is left.
struct For : Statement {
  using Statement::Statement;
  Flow run(Run& run) const override;
  Target target;
  ExpressionPtr items, condition;  // the condition may be null
  Block body, otherwise;

 private:
  List chosen(Run& run) const;
};

/// `{% break %}`, `{% continue %}`.
struct Jump : Statement {
  Jump(int at, Flow where) : Statement(at), flow(where) {}
  Flow run(Run& run) const override;
  Flow flow;
};

/// `{% set x = value %}`, or of a block with filters behind it.
struct Set : Statement {
  using Statement::Statement;
  Flow run(Run& run) const override;
  Target target;
  ExpressionPtr value;                 // null: the block
  std::unique_ptr<FilterCall> filter;  // of the block; may be null
  Block body;
};

/// `{% with a = 1, b = 2 %}`: a scope with these variables.
struct With : Statement {
  using Statement::Statement;
  Flow run(Run& run) const override;
  std::vector<std::pair<Target, ExpressionPtr>> values;
  Block body;
};

/// `{% filter upper %}`.
struct FilterBlock : Statement {
  using Statement::Statement;
  Flow run(Run& run) const override;
  std::unique_ptr<FilterCall> filter;
  Block body;
};

/// `{% macro name(parameters) %}`.
struct DefineMacro : Statement {
  using Statement::Statement;
  Flow run(Run& run) const override;
  MacroBody macro;
};

/// `{% call name(arguments) %}`: calls with the block as `caller`.
struct CallBlock : Statement {
  using Statement::Statement;
  Flow run(Run& run) const override;
  MacroBody macro;  // the block, which the callee calls
  std::unique_ptr<Call> call;
};

/// `{% generation %}`: what an assistant writes; notes where it stands in the text.
struct Generation : Statement {
  using Statement::Statement;
  Flow run(Run& run) const override;
  Block body;
};

}  // namespace mpitron::tokenizers::jinja
