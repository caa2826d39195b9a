#include "inference/server/connection_answer.h"

#include <thread>

#include <gtest/gtest.h>

#include "inference/server/http_server.h"
#include "support/http.h"

namespace mpitron::inference {
namespace connection_answer_test {

using namespace mpitron::test;

// The handler begins a stream on the server's thread while another thread already has events.
TEST(ConnectionAnswer, WhatSeveralThreadsAnswerArrivesInOrder) {
  std::thread engine;
  HttpServer server({.host = "127.0.0.1", .port = 0},
                    [&](const HttpRequest&, const std::shared_ptr<HttpAnswer>& answer) {
                      answer->begin_events();
                      if (engine.joinable()) {
                        engine.join();
                      }
                      engine = std::thread([answer] {
                        for (const char* text : {"1", "2", "3"}) {
                          answer->event(text);
                        }
                        answer->end_events();
                      });
                      std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    });
  for (int i = 0; i < 100; ++i) {
    const std::string reply =
        http(server.port(), "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    ASSERT_TRUE(reply.starts_with("HTTP/1.1 200 OK\r\n")) << reply;
    const std::size_t first = reply.find("data: 1\n\n"), last = reply.find("data: 3\n\n");
    ASSERT_LT(first, last) << reply;
    ASSERT_LT(last, reply.find("0\r\n\r\n", last)) << reply;
  }
  engine.join();
}

}  // namespace connection_answer_test
}  // namespace mpitron::inference
