"""Amounts as Kubernetes writes them."""
import decimal
import re

SUFFIXES = {"": 1, "n": decimal.Decimal("1e-9"), "u": decimal.Decimal("1e-6"), "m": decimal.Decimal("1e-3"), "k": 10**3, "M": 10**6,
            "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
QUANTITY = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([numk]|[KMGTPE]i|[MGTPE])?")


def milli(quantity):
    """In thousandths, rounded up: milli("1500m") == 1500, milli("2Ki") == 2048000."""
    match = QUANTITY.fullmatch(str(quantity))
    assert match, f"{quantity} is no quantity"
    amount = decimal.Decimal(match.group(1)) * SUFFIXES[match.group(2) or ""] * 1000
    return int(amount.to_integral_value(rounding=decimal.ROUND_CEILING))
