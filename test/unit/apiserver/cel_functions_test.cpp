#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "apiserver/cel.h"

namespace gantree::apiserver {
namespace {

std::string result(std::string_view rule, std::string_view self = "null") {
  const auto program = CelProgram::compile(rule);
  if (!program) {
    return "no program: " + program.error().message;
  }
  const auto value = (*program)->evaluate(parse_json(self).value(), nullptr);
  return value ? to_json(*value) : "error: " + value.error().message;
}

TEST(CelFunctions, TakeTextApart) {
  EXPECT_EQ(result("self.substring(1, 3) + self.substring(4)", R"("abcdef")"), R"("bcef")");
  EXPECT_EQ(result("self.charAt(1)", R"("äöü")"), R"("ö")");
  EXPECT_EQ(result("self.substring(2, 9)", R"("abc")"), "error: index out of range: 9");
  EXPECT_EQ(result("self.indexOf('ö') == 1 && self.lastIndexOf('ä') == 3 && self.indexOf('x') == -1", R"("äöüä")"),
            "true");
  EXPECT_EQ(result("self.replace('a', 'o') + self.replace('a', '', 1)", R"("banana")"), R"("bononobnana")");
  EXPECT_EQ(result("self.split(',', 2)", R"("a,b,c")"), R"(["a","b,c"])");
  EXPECT_EQ(result("'abc'.split('')"), R"(["a","b","c"])");
  EXPECT_EQ(result("' x '.trim() + 'aB'.upperAscii() + 'aB'.lowerAscii()"), R"("xABab")");
  EXPECT_EQ(result("self.find('[0-9]+') + self.findAll('[0-9]').join('-')", R"("a12b3")"), R"("121-2-3")");
  EXPECT_EQ(result("'%s has %d, %.2f, 100%%'.format(['x', 2, 1.5])"), R"("x has 2, 1.50, 100%")");
  EXPECT_EQ(result("'%d'.format([])"), "error: index 0 out of range");
}

TEST(CelFunctions, CountAndCompareLists) {
  EXPECT_EQ(result("[1, 2, 3].sum() + [4, 9].max() + [4, 9].min()"), "19");
  EXPECT_EQ(result("[1.5, 2.5].sum()"), "4");
  EXPECT_EQ(result("['b', 'a', 'b'].lastIndexOf('b') + ['b', 'a'].indexOf('a')"), "3");
  EXPECT_EQ(result("sets.contains([1, 2, 3], [1, 3]) && !sets.contains([1], [1, 2])"), "true");
  EXPECT_EQ(result("sets.equivalent([1, 2, 2], [2, 1]) && sets.intersects([1], [1, 2]) && !sets.intersects([1], [2])"),
            "true");
  EXPECT_EQ(result("[1, 2, 3, 4].map(x, x % 2 == 0, x * 10)"), "[20,40]");
  EXPECT_EQ(result("[quantity('1'), quantity('2k')].isSorted() && ![duration('2m'), duration('1s')].isSorted()"),
            "true");
}

TEST(CelFunctions, CompareQuantitiesByWhatTheyMean) {
  EXPECT_EQ(result("quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('500m').isLessThan(quantity('1'))"),
            "true");
  EXPECT_EQ(result("quantity('1000m') == quantity('1') && quantity('1').compareTo(quantity('2')) == -1"), "true");
  EXPECT_EQ(result("quantity('1k').add(quantity('24')).sub(24).asInteger()"), "1000");
  EXPECT_EQ(result("isQuantity('1.5Mi') && !isQuantity('much') && quantity('-1').sign() == -1"), "true");
  EXPECT_EQ(result("quantity('1500m').isInteger()"), "false");
  EXPECT_EQ(result("quantity('1500m').asApproximateFloat()"), "1.5");
  EXPECT_EQ(result("quantity('much')").substr(0, 5), "error");
}

TEST(CelFunctions, KnowTimes) {
  EXPECT_EQ(result("duration('90m') > duration('1h') && duration('1h') == duration('60m')"), "true");
  EXPECT_EQ(result("duration('90m').getHours() + duration('90m').getMinutes()"), "91");
  EXPECT_EQ(result("string(duration('90s') + duration('1m'))"), R"("150s")");
  EXPECT_EQ(result("timestamp('2026-03-01T10:20:30Z') - duration('24h') == timestamp('2026-02-28T10:20:30Z')"), "true");
  EXPECT_EQ(result("timestamp('2026-03-01T00:00:00Z') - timestamp('2026-02-28T00:00:00Z') == duration('24h')"), "true");
  EXPECT_EQ(result("[self.getFullYear(), self.getMonth(), self.getDate(), self.getDayOfMonth(), self.getDayOfYear(), "
                   "self.getDayOfWeek(), self.getHours(), self.getMinutes(), self.getSeconds()]",
                   R"("2026-03-01T10:20:30Z")"),
            "[2026,2,1,0,59,0,10,20,30]");
  EXPECT_EQ(result("duration('never')"), "error: invalid duration");
  EXPECT_EQ(result("duration('1h') < 5"), "error: no such overload");
}

// In JSON the fields are text; their format makes them times in CEL.
TEST(CelFunctions, TakeTextThatIsComparedWithATimeAsOne) {
  EXPECT_EQ(result("self <= duration('1h')", R"("59m")"), "true");
  EXPECT_EQ(result("self == duration('1h')", R"("60m")"), "true");
  EXPECT_EQ(result("self > timestamp('2026-01-01T00:00:00Z')", R"("2026-06-01T00:00:00+02:00")"), "true");
}

TEST(CelFunctions, KnowAddressesAndNetworks) {
  EXPECT_EQ(result("isIP('10.0.0.1') && isIP('::1') && !isIP('10.0.0') && !isIP('::ffff:1.2.3.4')"), "true");
  EXPECT_EQ(result("ip('127.0.0.1').family() + ip('::1').family()"), "10");
  EXPECT_EQ(result("ip('127.0.0.1').isLoopback() && !ip('8.8.8.8').isLoopback() && ip('8.8.8.8').isGlobalUnicast()"),
            "true");
  EXPECT_EQ(result("ip.isCanonical('::1') && !ip.isCanonical('0:0:0:0:0:0:0:1') && ip('0::1') == ip('::1')"), "true");
  EXPECT_EQ(result("cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))"),
            "true");
  EXPECT_EQ(result("cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.1.0.0/16').containsCIDR('10.0.0.0/8')"),
            "true");
  EXPECT_EQ(result("cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && cidr('10.0.0.0/8').prefixLength() == 8"),
            "true");
  EXPECT_EQ(result("string(cidr('10.1.2.3/8').ip())"), R"("10.1.2.3")");
  EXPECT_EQ(result("isCIDR('10.0.0.0/33')"), "false");
}

TEST(CelFunctions, TakeUrlsApart) {
  constexpr std::string_view kUrl = R"("https://me@[::1]:8443/a/b?c=d#e")";
  EXPECT_EQ(result("isURL(self) && !isURL('no url')", kUrl), "true");
  EXPECT_EQ(result("[url(self).getScheme(), url(self).getHost(), url(self).getHostname(), url(self).getPort(), "
                   "url(self).getEscapedPath()]",
                   kUrl),
            R"(["https","[::1]:8443","::1","8443","/a/b"])");
}

TEST(CelFunctions, FollowWhatMayBeMissing) {
  EXPECT_EQ(result("self.?a.b.orValue('none')", R"({"a":{"b":"c"}})"), R"("c")");
  EXPECT_EQ(result("self.?a.b.orValue('none')", "{}"), R"("none")");
  EXPECT_EQ(result("self[?1].hasValue() || self[?0].value() == 7", "[7]"), "true");
  EXPECT_EQ(result("self.?a.value()", "{}"), "error: optional.none() dereference");
  EXPECT_EQ(result("self.?a.optMap(x, x + 1).orValue(0) + self.?b.optMap(x, x + 1).orValue(0)", R"({"a":1})"), "2");
  EXPECT_EQ(result("optional.ofNonZeroValue('').or(optional.of('x')).value()"), R"("x")");
  EXPECT_EQ(result("optional.none().hasValue()"), "false");
  EXPECT_EQ(result("has(self.?a.b)", R"({"a":{"b":1}})"), "true");
}

TEST(CelFunctions, ConvertAndTellTypes) {
  EXPECT_EQ(result("type(self) == string && type(1) == int && type(1.0) != int && type([]) == list", R"("x")"), "true");
  EXPECT_EQ(result("bool('true') && !bool('false') && int('-4') == -4 && double('1.5') == 1.5"), "true");
  EXPECT_EQ(result("int('1.5')"), "error: type conversion error");
  EXPECT_EQ(result("dyn(1) == 1 && string(true) == 'true'"), "true");
}

}  // namespace
}  // namespace gantree::apiserver
