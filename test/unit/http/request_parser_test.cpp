#include "http/request_parser.h"

#include <gtest/gtest.h>

#include <string>

namespace gantree::http {
namespace {

constexpr RequestLimits kSmall{.header_bytes = 256, .body_bytes = 16};

TEST(RequestParser, ReadsARequestWithABody) {
  RequestParser parser({});
  ASSERT_EQ(
      parser.feed("POST /validate/x?timeout=10s HTTP/1.1\r\nHost: a\r\nX-Name:  v \r\nContent-Length: 4\r\n\r\nbody"),
      Progress::kDone);
  EXPECT_TRUE(parser.keep_alive());
  const IncomingRequest request = parser.take();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/validate/x");
  EXPECT_EQ(request.query, "timeout=10s");
  EXPECT_EQ(request.header("x-name"), "v");
  EXPECT_EQ(request.header("absent"), "");
  EXPECT_EQ(request.body, "body");
}

TEST(RequestParser, TakesBytesOneByOne) {
  const std::string bytes =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  RequestParser parser({});
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    ASSERT_EQ(parser.feed(bytes.substr(i, 1)), Progress::kNeedMore) << i;
  }
  ASSERT_EQ(parser.feed(bytes.substr(bytes.size() - 1)), Progress::kDone);
  EXPECT_EQ(parser.take().body, "abcde");
}

TEST(RequestParser, KeepsWhatFollowsForTheNextRequest) {
  RequestParser parser({});
  ASSERT_EQ(parser.feed("GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\nConnection: close\r\n\r\n"), Progress::kDone);
  EXPECT_EQ(parser.take().path, "/a");
  EXPECT_TRUE(parser.started());
  ASSERT_EQ(parser.feed(""), Progress::kDone);
  EXPECT_FALSE(parser.keep_alive());
  EXPECT_EQ(parser.take().path, "/b");
  EXPECT_FALSE(parser.started());
}

TEST(RequestParser, RefusesWhatIsNotHttp) {
  for (const char* bytes : {"\x16\x03\x01\x02\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/3.0\r\n\r\n",
                            "GET / HTTP/1.1\r\nno colon\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
                            "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
                            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"}) {
    RequestParser parser({});
    EXPECT_EQ(parser.feed(bytes), Progress::kBad) << bytes;
    EXPECT_EQ(parser.status(), 400) << bytes;
    EXPECT_FALSE(parser.what().empty());
  }
}

TEST(RequestParser, RefusesAHeaderThatIsTooLong) {
  RequestParser parser(kSmall);
  EXPECT_EQ(parser.feed("GET / HTTP/1.1\r\nX: " + std::string(300, 'x')), Progress::kBad);
  EXPECT_EQ(parser.status(), 431);
}

TEST(RequestParser, RefusesABodyThatIsAnnouncedTooLargeAndKeepsItsBeginning) {
  RequestParser parser(kSmall);
  ASSERT_EQ(parser.feed("POST /x HTTP/1.1\r\nContent-Length: 20\r\n\r\n"), Progress::kNeedMore);
  ASSERT_EQ(parser.feed("01234567890123456789"), Progress::kBad);
  EXPECT_EQ(parser.status(), 413);
  const IncomingRequest rest = parser.take_rest();
  EXPECT_EQ(rest.path, "/x");
  EXPECT_EQ(rest.body, "01234567890123456789");
}

TEST(RequestParser, RefusesAHugeBodyWithoutWaitingForIt) {
  RequestParser parser({});
  EXPECT_EQ(parser.feed("POST /x HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n" + std::string(5000, 'a')),
            Progress::kBad);
  EXPECT_EQ(parser.status(), 413);
  EXPECT_EQ(parser.take_rest().body.size(), 5000U);
}

TEST(RequestParser, RefusesChunksThatTogetherAreTooLarge) {
  RequestParser parser(kSmall);
  EXPECT_EQ(parser.feed("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\na\r\n0123456789\r\n"),
            Progress::kBad);
  EXPECT_EQ(parser.status(), 413);
  EXPECT_EQ(parser.take_rest().body, "0123456789");
}

TEST(RequestParser, TellsOnceThatTheSenderWaitsForLeave) {
  RequestParser parser({});
  ASSERT_EQ(parser.feed("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"), Progress::kNeedMore);
  EXPECT_TRUE(parser.take_expectation());
  EXPECT_FALSE(parser.take_expectation());
  ASSERT_EQ(parser.feed("ab"), Progress::kDone);
  EXPECT_EQ(parser.take().body, "ab");
}

TEST(RequestParser, RefusesWhatItCannotDo) {
  RequestParser coding({});
  EXPECT_EQ(coding.feed("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"), Progress::kBad);
  EXPECT_EQ(coding.status(), 501);
  RequestParser expectation({});
  EXPECT_EQ(expectation.feed("POST / HTTP/1.1\r\nExpect: miracles\r\nContent-Length: 2\r\n\r\n"), Progress::kBad);
  EXPECT_EQ(expectation.status(), 417);
}

}  // namespace
}  // namespace gantree::http
