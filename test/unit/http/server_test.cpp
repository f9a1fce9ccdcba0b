#include "http/server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "loopback.h"

namespace gantree::http {
namespace {

using namespace std::chrono_literals;

Response echo(const IncomingRequest& request) {
  return {.body = request.method + " " + request.path + " " + request.body};
}

std::unique_ptr<Server> started(ServerOptions options = {}) {
  auto server = Server::start(std::move(options), echo);
  EXPECT_TRUE(server) << server.error().message;
  return server ? std::move(*server) : nullptr;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.ends_with(end);
}

TEST(Server, AnswersOneRequestAfterAnotherOnOneConnection) {
  const auto server = started();
  Wire wire(server->port());
  for (int i = 0; i < 3; ++i) {
    wire.send("POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi");
    const std::string response = wire.receive();
    EXPECT_TRUE(response.starts_with("HTTP/1.1 200 OK\r\n")) << response;
    EXPECT_TRUE(ends_with(response, "\r\n\r\nPOST /a hi")) << response;
  }
}

TEST(Server, AnswersRequestsThatWereSentTogetherInTheirOrder) {
  const auto server = started();
  Wire wire(server->port());
  wire.send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(ends_with(wire.receive(), "GET /1 "));
  EXPECT_TRUE(ends_with(wire.receive(), "GET /2 "));
  const std::string last = wire.receive();
  EXPECT_TRUE(ends_with(last, "GET /3 "));
  EXPECT_NE(last.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(wire.closed());
}

TEST(Server, SendsNoBodyToHead) {
  const auto server = started();
  Wire wire(server->port());
  wire.send("HEAD /a HTTP/1.1\r\n\r\n");
  EXPECT_NE(wire.receive(false).find("Content-Length: 8\r\n"), std::string::npos);
  wire.send("GET /b HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(wire.receive().starts_with("HTTP/1.1 200"));
}

TEST(Server, RefusesBadHttpWith400AndLargeBodiesWith413) {
  const auto server = started({.limits = {.header_bytes = 1024, .body_bytes = 1024}});
  Wire bad(server->port());
  bad.send("nonsense\r\n\r\n");
  EXPECT_TRUE(bad.receive().starts_with("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_TRUE(bad.closed());
  Wire large(server->port());
  large.send("POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n" + std::string(1'000'000, 'x'));
  EXPECT_TRUE(large.receive().starts_with("HTTP/1.1 413 "));
  Wire long_header(server->port());
  long_header.send("GET / HTTP/1.1\r\nX: " + std::string(5000, 'x') + "\r\n\r\n");
  EXPECT_TRUE(long_header.receive().starts_with("HTTP/1.1 431 "));
}

TEST(Server, LetsTheOwnerPutARefusalIntoWords) {
  const auto server = started(
      {.limits = {.body_bytes = 10}, .refusal = [](const IncomingRequest& request, int status, std::string_view) {
         return Response{.status = 200, .body = std::to_string(status) + request.body.substr(0, 4)};
       }});
  Wire wire(server->port());
  wire.send("POST / HTTP/1.1\r\nContent-Length: 11\r\n\r\nabcdefghijk");
  const std::string response = wire.receive();
  EXPECT_TRUE(response.starts_with("HTTP/1.1 200 OK")) << response;
  EXPECT_TRUE(ends_with(response, "413abcd")) << response;
}

TEST(Server, GivesLeaveToSendTheBody) {
  const auto server = started();
  Wire wire(server->port());
  wire.send("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_TRUE(wire.receive(false).starts_with("HTTP/1.1 100 Continue\r\n"));
  wire.send("ok");
  EXPECT_TRUE(ends_with(wire.receive(), "POST / ok"));
}

TEST(Server, TurnsStrangersAwayByTheirHeaderAndAsksForNoBody) {
  ServerOptions options;
  options.admits = [](const IncomingRequest& head) { return head.header("x-token") == "t"; };
  const auto server = started(std::move(options));
  for (const std::string how : {"Expect: 100-continue\r\nContent-Length: 2", "Content-Length: 900000",
                                "Content-Length: 99999999", "Transfer-Encoding: chunked"}) {
    Wire stranger(server->port());
    stranger.send("POST / HTTP/1.1\r\n" + how + "\r\n\r\n");
    EXPECT_TRUE(stranger.receive().starts_with("HTTP/1.1 401 ")) << how;
    EXPECT_TRUE(stranger.closed()) << how;
  }
  Wire known(server->port());
  known.send("POST / HTTP/1.1\r\nX-Token: t\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_TRUE(known.receive(false).starts_with("HTTP/1.1 100 Continue\r\n"));
  known.send("ok");
  EXPECT_TRUE(ends_with(known.receive(), "POST / ok"));
}

TEST(Server, AnswersLaterFromAnotherThread) {
  std::vector<std::jthread> workers;
  const auto server = Server::start({}, Handler([&](const IncomingRequest& request, Reply reply) {
                                      workers.emplace_back([path = request.path, late = std::move(reply)]() mutable {
                                        std::this_thread::sleep_for(20ms);
                                        late.send({.body = path});
                                      });
                                    }));
  ASSERT_TRUE(server);
  Wire one(server.value()->port());
  Wire two(server.value()->port());
  one.send("GET /one HTTP/1.1\r\n\r\n");
  two.send("GET /two HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(ends_with(one.receive(), "/one"));
  EXPECT_TRUE(ends_with(two.receive(), "/two"));
}

TEST(Server, SaysSoWhenTheHandlerForgetsToAnswer) {
  const auto server = Server::start({}, Handler([](const IncomingRequest&, const Reply&) {}));
  ASSERT_TRUE(server);
  Wire wire(server.value()->port());
  wire.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(wire.receive().starts_with("HTTP/1.1 500 "));
}

TEST(Server, ClosesConnectionsThatAreIdleOrSlow) {
  const auto server = started({.header_timeout = 100ms, .body_timeout = 100ms, .idle_timeout = 100ms});
  Wire idle(server->port());
  Wire header(server->port());
  Wire body(server->port());
  header.send("GET / HT");
  body.send("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\na");
  EXPECT_TRUE(idle.closed());
  EXPECT_TRUE(header.closed());
  EXPECT_TRUE(body.closed());
}

TEST(Server, MakesRoomForANewConnectionByClosingTheOneThatIsIdleLongest) {
  const auto server = started({.max_connections = 2});
  Wire first(server->port());
  Wire second(server->port());
  for (Wire* wire : {&first, &second}) {
    wire->send("GET / HTTP/1.1\r\n\r\n");
    EXPECT_FALSE(wire->receive().empty());
    std::this_thread::sleep_for(5ms);
  }
  Wire third(server->port());
  third.send("GET /third HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(ends_with(third.receive(), "GET /third "));
  EXPECT_TRUE(first.closed());
  second.send("GET /second HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(ends_with(second.receive(), "GET /second "));
}

TEST(Server, MakesRoomByClosingThoseWhoDoNotSayWhatTheyWant) {
  const auto server = started({.max_connections = 4, .header_rest = 50ms, .rest = 10s});
  Wire in_use(server->port());
  in_use.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_FALSE(in_use.receive().empty());
  std::vector<std::unique_ptr<Wire>> slow;
  for (int i = 0; i < 40; ++i) {
    slow.push_back(std::make_unique<Wire>(server->port()));
    slow.back()->send(i % 2 == 0 ? "GET / HTTP/1.1\r\nX: " : "");
  }
  const auto begin = std::chrono::steady_clock::now();
  Wire probe(server->port());
  probe.send("GET /healthz HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(ends_with(probe.receive(), "GET /healthz "));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s) << "they had ten seconds each";
  EXPECT_TRUE(slow.front()->closed());
  in_use.send("GET /again HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(ends_with(in_use.receive(), "GET /again ")) << "who has asked before is not in the way";
}

TEST(Server, GivesWhoConnectsNoMoreTimeThanAHeaderTakes) {
  const auto server = started({.header_timeout = 100ms, .idle_timeout = 60s});
  Wire silent(server->port());
  EXPECT_TRUE(silent.closed());
  Wire used(server->port());
  used.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_FALSE(used.receive().empty());
  std::this_thread::sleep_for(300ms);
  used.send("GET /again HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(ends_with(used.receive(), "GET /again ")) << "between requests it may take its time";
}

TEST(Server, ClosesNoConnectionThatWasInUseJustNow) {
  const auto server = started({.max_connections = 1, .rest = 300ms});
  Wire first(server->port());
  first.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_FALSE(first.receive().empty());
  const auto begin = std::chrono::steady_clock::now();
  Wire second(server->port());
  second.send("GET /second HTTP/1.1\r\n\r\n");
  std::this_thread::sleep_for(100ms);
  first.send("GET /first HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(ends_with(first.receive(), "GET /first "));
  EXPECT_TRUE(ends_with(second.receive(), "GET /second "));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 300ms);
}

TEST(Server, TakesInFewLargeBodiesAtOnce) {
  const auto server = started({.large_body_bytes = 10, .max_large_bodies = 1});
  const std::string head = "POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n";
  Wire first(server->port());
  first.send(head + std::string(50'000, 'x'));
  std::this_thread::sleep_for(50ms);
  Wire second(server->port());
  second.send(head + std::string(100'000, 'y'));
  Wire gone(server->port());
  gone.send(head + std::string(50'000, 'z'));
  Wire small(server->port());
  small.send("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nsmall");
  EXPECT_TRUE(ends_with(small.receive(), "POST / small"));
  first.send(std::string(50'000, 'x'));
  EXPECT_TRUE(ends_with(first.receive(), std::string(100'000, 'x')));
  EXPECT_TRUE(ends_with(second.receive(), std::string(100'000, 'y')));
}

TEST(Server, FinishesRequestsThatHaveBegunBeforeItStops) {
  std::promise<Reply> asked;
  auto server =
      Server::start({}, Handler([&](const IncomingRequest&, Reply reply) { asked.set_value(std::move(reply)); }));
  ASSERT_TRUE(server);
  Wire idle(server.value()->port());
  std::optional<Wire> busy(server.value()->port());
  busy->send("GET / HTTP/1.1\r\n\r\n");
  Reply reply = asked.get_future().get();
  std::jthread stopping([&] { server.value()->stop(5s); });
  EXPECT_TRUE(idle.closed());
  reply.send({.body = "bye"});
  const std::string response = busy->receive();
  EXPECT_TRUE(ends_with(response, "bye"));
  EXPECT_NE(response.find("Connection: close"), std::string::npos);
  busy.reset();
}

TEST(Server, StopsInTimeWithoutTheAnswerOfAHandlerThatHangs) {
  std::promise<Reply> asked;
  auto server =
      Server::start({}, Handler([&](const IncomingRequest&, Reply reply) { asked.set_value(std::move(reply)); }));
  ASSERT_TRUE(server);
  Wire busy(server.value()->port());
  busy.send("GET / HTTP/1.1\r\n\r\n");
  Reply late = asked.get_future().get();
  server.value()->stop(50ms);
  EXPECT_TRUE(busy.closed());
  server->reset();
  late.send({.body = "nobody is there"});
}

TEST(Server, SaysWhatIsWrongWithAnAddress) {
  for (const char* listen : {"nowhere", "127.0.0.1:", "127.0.0.1:99999", "::1:80", "host.invalid:80"}) {
    const auto server = Server::start({.listen = listen}, echo);
    ASSERT_FALSE(server) << listen;
    EXPECT_NE(server.error().message.find(listen), std::string::npos);
  }
  const auto first = started();
  const auto second = Server::start({.listen = "127.0.0.1:" + std::to_string(first->port())}, echo);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("in use"), std::string::npos) << second.error().message;
}

TEST(Server, ListensOnEveryAddress) {
  const auto server = started({.listen = ":0"});
  Wire wire(server->port());
  wire.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_FALSE(wire.receive().empty());
}

TEST(ServerWithTls, AnswersAndPartsInOrder) {
  const SelfSigned own = self_signed();
  const auto server = started({.tls = ServerTls{own.certificate, own.key}});
  Wire wire(server->port(), TlsClient{});
  ASSERT_TRUE(wire.connected());
  EXPECT_EQ(wire.peer(), own.certificate);
  wire.send("GET /1 HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(ends_with(wire.receive(), "GET /1 "));
  wire.send("GET /2 HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(ends_with(wire.receive(), "GET /2 "));
  EXPECT_TRUE(wire.closed());
}

TEST(ServerWithTls, SpeaksHttp1ToThoseWhoOfferItOrNothing) {
  const SelfSigned own = self_signed();
  const auto server = started({.tls = ServerTls{own.certificate, own.key}});
  EXPECT_TRUE(Wire(server->port(), TlsClient{.protocols = "\x02h2\x08http/1.1"}).connected());
  EXPECT_TRUE(Wire(server->port(), TlsClient{.protocols = ""}).connected());
  EXPECT_FALSE(Wire(server->port(), TlsClient{.protocols = "\x02h2"}).connected());
}

TEST(ServerWithTls, TakesANewCertificateWithoutDroppingConnections) {
  const SelfSigned before = self_signed(1);
  const SelfSigned after = self_signed(2);
  const auto server = started({.tls = ServerTls{before.certificate, before.key}});
  Wire old(server->port(), TlsClient{});
  ASSERT_TRUE(server->set_tls({after.certificate, after.key}));
  EXPECT_FALSE(server->set_tls({after.certificate, before.key}));
  Wire fresh(server->port(), TlsClient{});
  EXPECT_EQ(old.peer(), before.certificate);
  EXPECT_EQ(fresh.peer(), after.certificate);
  for (Wire* wire : {&old, &fresh}) {
    wire->send("GET / HTTP/1.1\r\n\r\n");
    EXPECT_FALSE(wire->receive().empty());
  }
}

TEST(ServerWithTls, AsksClientsForACertificateOfTheGivenAuthority) {
  const SelfSigned own = self_signed(1);
  const SelfSigned friendly = self_signed(2);
  const SelfSigned stranger = self_signed(3);
  const auto server = started({.tls = ServerTls{own.certificate, own.key, friendly.certificate}});
  const auto answers = [&](const SelfSigned& shown) {
    Wire wire(server->port(), TlsClient{.own = shown});
    return wire.connected() && wire.send("GET / HTTP/1.1\r\n\r\n") && !wire.receive().empty();
  };
  EXPECT_TRUE(answers(friendly));
  EXPECT_FALSE(answers(stranger));
  EXPECT_FALSE(answers({}));
}

TEST(ServerWithTls, OutlivesClientsThatTalkNonsense) {
  const SelfSigned own = self_signed();
  const auto server = started({.tls = ServerTls{own.certificate, own.key}, .header_timeout = 200ms});
  Wire plain_text(server->port());
  plain_text.send("GET / HTTP/1.1\r\n\r\n");
  Wire silent(server->port());
  EXPECT_TRUE(silent.closed());
  EXPECT_TRUE(Wire(server->port(), TlsClient{}).connected());
}

TEST(ServerWithTls, SaysWhatIsWrongWithACertificate) {
  const SelfSigned own = self_signed();
  for (const ServerTls& tls :
       {ServerTls{"", own.key}, ServerTls{own.certificate, "no key"}, ServerTls{own.certificate, self_signed().key},
        ServerTls{own.certificate, own.key, "no CA"}}) {
    const auto server = Server::start({.tls = tls}, echo);
    ASSERT_FALSE(server);
    EXPECT_FALSE(server.error().message.empty());
  }
}

Bytes bytes(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

// A server whose answers are streams, which the test holds in its hands.
class Streams : public ::testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    auto server = Server::start(
        std::move(options), Handler([this](const IncomingRequest&, Reply reply) {
          flow_.set_value(reply.stream({.content_type = "text/x", .body = "first"}, [this] { gone_.set_value(); }));
        }));
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
  }
  std::unique_ptr<Server> server_;
  std::promise<std::shared_ptr<Outflow>> flow_;
  std::promise<void> gone_;
};

TEST_F(Streams, ComeInChunksUntilTheyEnd) {
  start();
  Wire wire(server_->port());
  wire.send("GET / HTTP/1.1\r\n\r\n");
  const auto flow = flow_.get_future().get();
  EXPECT_TRUE(flow->send({bytes("one"), bytes("two")}, Outflow::Patience::kBounded));
  flow->end();
  const std::string all = wire.receive_all();
  EXPECT_NE(all.find("Transfer-Encoding: chunked\r\n"), std::string::npos) << all;
  EXPECT_NE(all.find("\r\n\r\n5\r\nfirst\r\n"), std::string::npos) << all;
  EXPECT_TRUE(ends_with(all, "6\r\nonetwo\r\n0\r\n\r\n")) << all;
  EXPECT_EQ(gone_.get_future().wait_for(5s), std::future_status::ready);
}

TEST_F(Streams, AreGivenUpWhenTheClientGoes) {
  start();
  auto wire = std::make_unique<Wire>(server_->port());
  wire->send("GET / HTTP/1.1\r\n\r\n");
  const auto flow = flow_.get_future().get();
  wire.reset();
  EXPECT_EQ(gone_.get_future().wait_for(5s), std::future_status::ready);
  EXPECT_FALSE(flow->send({bytes("late")}, Outflow::Patience::kBounded));
}

TEST_F(Streams, CutOffAClientThatDoesNotRead) {
  start({.max_waiting_bytes = 1 << 20});
  Wire wire(server_->port());
  wire.send("GET / HTTP/1.1\r\n\r\n");
  const auto flow = flow_.get_future().get();
  const Bytes large = bytes(std::string(1 << 18, 'x'));
  EXPECT_TRUE(flow->send(std::vector<Bytes>(64, large), Outflow::Patience::kAny));
  bool open = true;
  for (int i = 0; i < 64 && open; ++i) {
    open = flow->send({large}, Outflow::Patience::kBounded);
  }
  EXPECT_FALSE(open);
  EXPECT_EQ(gone_.get_future().wait_for(5s), std::future_status::ready);
}

TEST_F(Streams, EndWithTheServer) {
  start();
  Wire wire(server_->port());
  wire.send("GET / HTTP/1.1\r\n\r\n");
  const auto flow = flow_.get_future().get();
  server_->stop(10s);
  EXPECT_EQ(gone_.get_future().wait_for(0s), std::future_status::ready);
  EXPECT_FALSE(flow->send({bytes("late")}, Outflow::Patience::kBounded));
}

TEST(Server, SendsThePiecesOfALongAnswer) {
  auto server = Server::start({}, [](const IncomingRequest&) {
    return Response{.body = "head ", .rest = std::vector<Bytes>(1000, bytes(std::string(1000, 'x')))};
  });
  ASSERT_TRUE(server);
  Wire wire((*server)->port());
  wire.send("GET / HTTP/1.1\r\n\r\n");
  const std::string response = wire.receive();
  EXPECT_NE(response.find("Content-Length: 1000005\r\n"), std::string::npos);
  EXPECT_TRUE(ends_with(response, "head " + std::string(1'000'000, 'x')));
}

}  // namespace
}  // namespace gantree::http
