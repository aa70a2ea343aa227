"""Phone numbers: of the same country and form, in the range that its regulator keeps for fiction or never issues.

| country | range | source |
| --- | --- | --- |
| +1 | any area of a place, N11-xxxx | N11 codes are no central office codes (NANPA, CO code assignment guidelines) |
| +44 | 07700 900xxx, 020 7946 0xxx, 01632 960xxx | Ofcom: numbers for use in TV and radio drama |
| +33 | 01 99 00, 02 61 91, 03 53 01, 04 65 71, 05 36 49, 06 39 98 | ARCEP decision 2018-0881 |
| +49 | 030 23125xxx, 0171 39200xx | Bundesnetzagentur: numbers for media productions |
| +46 | 08 465 004xx | PTS: numbers for use in books and films |
| +61 | 0x 5550 xxxx | ACMA: numbers for use in radio, books, film and TV |
| +353 | 020 91x xxxx | ComReg: numbers for drama use |
| +82 | 010 0xxx xxxx, area code + 0xx... | exchanges do not begin with 0 (MSIT numbering plan) |
| +81 | 090 0xxx xxxx | exchanges do not begin with 0 (MIC numbering plan) |
| others | +999 | no country has it (ITU-T E.164: reserved) |

Equal numbers are equal in every form: ``+1 212-734-0134`` and ``(212) 734-0134`` are one (``identity``). A number
without a country is one of the first country in which it is valid.

Numbers are mapped one to one as far as a range goes (``Seed.placed``): two of one area (+1), of one area and first
digit (+82), of one leading digit (+81, +999) never share a surrogate; others meet by chance in a range of 2 * 10^7
(+1), 10^7 (+82 mobile, +81) or 10^6 (+82 in towns). The ranges of +44, +33, +49, +46, +61 and +353 have 100 to 100,000
numbers, fewer than a company has customers there: two of them may share one. 911 is left out, and 555-01xx counts as
reserved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from governance.masking.draw import Seed
from governance.masking.makers.shape import refill, shaped
from governance.masking.words import listed

REGIONS: Final = ("US", "KR", "GB", "DE", "FR", "JP")
"""Where a number without a country is looked for, in order."""
_AREAS: Final = listed(
    """
    201 202 203 205 206 207 208 209 210 212 213 214 215 216 217 218 219 220 223 224 225 227 228 229 231 234
    235 239 240 248 251 252 253 254 256 260 262 267 269 270 272 274 276 279 281 283 301 302 303 304 305 307
    308 309 310 312 313 314 315 316 317 318 319 320 321 323 324 325 326 327 329 330 331 332 334 336 337 339
    341 346 347 350 351 352 353 360 361 363 364 369 380 385 386 401 402 404 405 406 407 408 409 410 412 413
    414 415 417 419 423 424 425 430 432 434 435 440 442 443 445 447 448 458 463 464 469 470 472 475 478 479
    480 484 500 501 502 503 504 505 507 508 509 510 512 513 515 516 517 518 520 521 522 525 526 527 528 529
    530 531 532 533 534 539 540 541 544 551 557 559 561 562 563 564 566 567 570 571 572 573 574 575 577 580
    582 585 586 588 601 602 603 605 606 607 608 609 610 612 614 615 616 617 618 619 620 623 626 628 629 630
    631 636 640 641 645 646 650 651 656 657 659 660 661 662 667 669 678 680 681 682 686 689 701 702 703 704
    706 707 708 712 713 714 715 716 717 718 719 720 724 725 726 727 728 730 731 732 734 737 738 740 743 747
    748 754 757 760 762 763 765 769 770 771 772 773 774 775 779 781 785 786 800 801 802 803 804 805 806 808
    810 812 813 814 815 816 817 818 820 821 826 828 830 831 832 833 835 838 839 840 843 844 845 847 848 850
    854 855 856 857 858 859 860 862 863 864 865 866 870 872 877 878 888 900 901 903 904 906 907 908 909 910
    912 913 914 915 916 917 918 919 920 925 928 929 930 931 934 936 937 938 940 941 943 945 947 948 949 951
    952 954 956 959 970 971 972 973 975 978 979 980 983 984 985 986 989
    """
)
_SERVICES: Final = frozenset(
    listed(
        """
        500 521 522 525 526 527 528 529 532 533 535 538 542 543 544 566 577 588 600 622 633 644 655 677 688 700 710 800
        833 844 855 866 877 888 900
        """
    )
)
"""Areas of no place: N11 codes are in use there (toll-free), or cost the caller."""
_PLACES: Final = tuple(area for area in _AREAS if area not in _SERVICES)
_N11: Final = ("211", "311", "411", "511", "611", "711", "811")
_LINES: Final = 10_000
_RANGES: Final[dict[int, tuple[tuple[str, str], ...]]] = {
    44: (("7", "7700900***"), ("20", "2079460***"), ("", "1632960***")),
    33: (("1", "19900****"), ("2", "26191****"), ("3", "35301****"), ("4", "46571****"), ("5", "53649****"),
         ("6", "63998****"), ("7", "63998****")),
    49: (("15", "17139200**"), ("16", "17139200**"), ("17", "17139200**"), ("", "3023125***")),
    46: (("", "8465004**"),),
    61: (("2", "25550****"), ("3", "35550****"), ("7", "75550****"), ("8", "85550****")),
    353: (("", "2091*****"),),
    81: (("7", "900*******"), ("8", "900*******"), ("9", "900*******")),
}  # fmt: skip
"""Country to (how the national number begins, the range that stands for it); a star is any digit."""

_KOREAN: Final = r"(?:82|0)(?:1[016-9]|2|3[1-3]|4[1-4]|5[1-5]|6[1-4])0[0-9]{6,7}"


def phone(seed: Seed, value: str) -> str:
    """A number of the same country, written alike."""
    known = _parsed(value)
    fresh = _fresh(seed, known.country_code, str(known.national_number)) if known else None
    if known is None or fresh is None:
        return _nowhere(seed, value)
    old = f"{known.country_code}{known.national_number}"
    digits = "".join(char for char in value if char.isdecimal())
    new = f"{known.country_code}{fresh}"
    extra = shaped(seed, "EXTENSION", str(known.extension or ""))
    if digits == old + (known.extension or ""):
        return refill(value, new + extra) if len(old) == len(new) else f"+{known.country_code} {fresh}"
    rest = len(digits) - len(str(known.national_number)) - len(extra)
    if rest >= 0 and len(fresh) == len(str(known.national_number)):
        return refill(value, digits[:rest] + fresh + extra)
    lead = digits[: max(rest, 0)]
    return f"+{lead} {fresh}" if value.lstrip(" (").startswith("+") else f"{lead}{fresh}"


def identity(value: str) -> str:
    """The number whatever its form: E.164 where the plan of a country knows it, its digits otherwise."""
    known = _parsed(value)
    if known is None:
        return "".join(char for char in value if char.isdecimal()) or value.casefold()
    return f"+{known.country_code}{known.national_number}"


def reserved(digits: str) -> bool:
    """Whether a number, written in digits with or without its country, lies in one of the ranges."""
    return _RESERVED.fullmatch(digits) is not None


def korean(digits: str) -> bool:
    """Whether it is a Korean one of them."""
    return re.fullmatch(_KOREAN, digits) is not None


def _parsed(value: str) -> Any:
    """The number by the first country in which it is valid; a number with its country need only be possible."""
    import phonenumbers

    text = value.strip()
    abroad = re.sub(r"^\s*\(?(?:00|011)(?=[\s\-.1-9])\)?", "+", text) if not text.startswith("+") else text
    for region in (None,) if abroad.startswith(("+", "(+")) else REGIONS:
        try:
            number = phonenumbers.parse(abroad, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number) or (region is None and phonenumbers.is_possible_number(number)):
            return number
    return None


def _fresh(seed: Seed, country: int, national: str) -> str | None:
    """A national number of the range that stands for this one."""
    if country == 1:
        size = len(_PLACES) * len(_N11) * _LINES
        fresh = seed.placed(f"PHONE_NUMBER 1 {national[:3]}", int(national[3:] or 0), size)
        place, line = divmod(fresh, _LINES)
        return f"{_PLACES[place // len(_N11)]}{_N11[place % len(_N11)]}{line:04d}"
    if country == 82:
        area = national[:2] if national[0] in "13456" else national[:1]
        local = national[len(area) :]
        free = len(local) - 1
        if national[0] not in "123456" or free < 1:
            return None
        kind = f"PHONE_NUMBER 82 {area} {local[0]}"
        return f"{area}0{seed.placed(kind, int(local[1:]), 10**free):0{free}d}"
    shape = next((shape for start, shape in _RANGES.get(country, ()) if national.startswith(start)), None)
    if shape is None:
        return None
    free = shape.count("*")
    fresh = seed.placed(f"PHONE_NUMBER {country} {shape}", int(national), 10**free)
    return f"{shape.rstrip('*')}{fresh:0{free}d}"


def _nowhere(seed: Seed, value: str) -> str:
    """A number of no country, grouped like the original where that says its country, all digits where it is."""
    number = identity(value).removeprefix("+")
    count = sum(char.isdecimal() for char in value)
    free = max(count - 3, 7) if value.strip().isdecimal() else max(count - 3, 10)
    kind = f"PHONE_NUMBER 999 {len(number)}"
    place = int(number) if number.isdecimal() else seed.draw(kind, number).below(10**free)
    fresh = f"{seed.placed(kind, place, 10**free):0{free}d}"
    if value.strip().isdecimal():
        return f"999{fresh}"
    if value.lstrip(" (").startswith("+") and count >= 10:
        return refill(value, f"999{fresh[-(count - 3) :]}")
    return f"+999 {fresh[-10:-7]} {fresh[-7:-4]} {fresh[-4:]}"


def _reserved() -> re.Pattern[str]:
    shapes = [f"(?:{country}|0)?{shape.replace('*', '[0-9]')}"
              for country, ranges in _RANGES.items() for _, shape in ranges]  # fmt: skip
    american = rf"1?(?:[2-9][0-9]{{2}}55501[0-9]{{2}}|(?:{'|'.join(_PLACES)})(?:{'|'.join(_N11)})[0-9]{{4}})"
    return re.compile("|".join([american, _KOREAN, r"999[0-9]{7,12}", *dict.fromkeys(shapes)]))


_RESERVED: Final = _reserved()
MAKERS: Final[Mapping[str, Callable[[Seed, str], str]]] = dict.fromkeys(
    (
        "PHONE_NUMBER",
        "ZA_MOBILE_NUMBER",
        "ZA_TELEPHONE_NUMBER",
        "KR_PHONE_NUMBER",
        "KR_PHONE",
        "PH_MOBILE_NUMBER",
        "TR_PHONE_NUMBER",
    ),
    phone,
)
