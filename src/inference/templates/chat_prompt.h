#pragma once
#include <string>
#include <vector>

#include "tokenizers/chat/chat_format.h"
#include "tokenizers/chat/chat_template.h"

namespace mpitron::inference {

/// Parts of a chat request that make its prompt, as the JSON texts that the client sent.
struct ChatRequest {
  std::string messages;
  std::string tools = "null";
  std::string documents = "null";
  std::string variables = "null";  // an object: more of what the template may read
  bool add_generation_prompt = true;
  bool continue_final_message = false;  // the text ends where the last message's does
  std::string image_text = {};          // what comes for an image; empty: images are refused
};

/// Returns the addresses of the images that messages show (parts of type image_url), in their
/// order.
std::vector<std::string> chat_images(const std::string& messages);

/// Returns the turns of messages without a template, <image> for each image. Error(data) tells what
/// a message must be.
std::vector<tokenizers::ChatMessage> chat_turns(const std::string& messages);

/// Writes a conversation by its template. Contents that are lists of parts of type text are joined,
/// developer is system, arguments of tool calls that come as a JSON text are read. Error(data)
/// tells what a message must be, or what the template raises.
std::string chat_prompt(const tokenizers::ChatTemplate& chat, const ChatRequest& request);

}  // namespace mpitron::inference
