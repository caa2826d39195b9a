#include "tokenizers/chat/chat_template.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/golden_folder.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::tokenizers {
namespace chat_template_test {

using json = nlohmann::ordered_json;

TEST(ChatTemplate, RendersTheRecordedConversations) {
  const std::string path = test::golden_folder() + "/generation/chat.json";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << path << " is not there";
  }
  const json file = json::parse(read_file(path));
  for (const auto& each : file.at("rendered")) {
    const std::string name = each.at("template");
    SCOPED_TRACE(name + each.at("conversation").dump());
    const ChatTemplate chat(file.at("templates").at(name).get<std::string>(),
                            {{"bos_token", "<s>"}, {"eos_token", "</s>"}});
    ChatTemplate::Conversation conversation{
        .messages = jinja::value_of_json(
            file.at("conversations").at(each.at("conversation").get<std::size_t>()).dump()),
        .tools = jinja::value_of_json(each.value("tools", json()).dump()),
        .documents = {},
        .add_generation_prompt = each.at("add_generation_prompt").get<bool>()};
    if (each.contains("text")) {
      EXPECT_EQ(chat.render(conversation).text, each.at("text"));
      continue;
    }
    try {
      chat.render(conversation);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), each.at("error"));
    }
  }
}

TEST(ChatTemplate, TakesMessagesAndSpecialTokens) {
  const ChatTemplate chat(
      "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}\n"
      "{% endfor %}{{ 'assistant:' if add_generation_prompt }}{{ pad_token }}"
      "{{ tools is none }}",
      {{"bos_token", "<s>"}});
  const std::vector<ChatMessage> talk{{"user", "hi"}, {"assistant", "yo"}};
  EXPECT_EQ(chat.render(talk, true), "<s>user: hi\nassistant: yo\nassistant:True");
  EXPECT_EQ(chat.render(talk, false), "<s>user: hi\nassistant: yo\nTrue");
  EXPECT_EQ(chat.render({.messages = jinja::Value::of(jinja::List()),
                         .tools = {},
                         .documents = {},
                         .more = {{"pad_token", "P"}}})
                .text,
            "<s>PTrue");
}

}  // namespace chat_template_test
}  // namespace mpitron::tokenizers
