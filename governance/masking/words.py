"""Word lists: syllables of made-up names, given names that tell a person, and words that never name one.

The syllables combine to names that nobody is known to bear, so a surrogate points at no real person. The given names
are common ones of several languages; names that are as often a place or a plain word are left out.
"""

from __future__ import annotations

from typing import Final


def listed(block: str) -> tuple[str, ...]:
    """The words of a block of text."""
    return tuple(block.split())


GIVEN_STARTS: Final = listed(
    """
    Al Ar Bel Bri Cal Cor Dal Del Dor El Em Fal Fen Gal Gor Hal Hel Il Jor Kal Kel Lan Lor Mal Mer Nal Nor Ol Or
    Pal Per Quil Ral Ren Ros Sal Sel Sor Tal Tor Ul Val Ver Wil Yal Yor Zan Zel
    """
)
GIVEN_MIDDLES: Final = listed(
    """
    a e i o u ba be bi da de di do ka ke ki la le li lo ma me mi na ne ni ra re ri ro sa se va
    """
)
GIVEN_ENDS: Final = listed(
    """
    bin bor dan den dil don fin lan len lin lor man men mir nan nel nin ran ren rin sen sin ton van ven vin
    """
)
FAMILY_STARTS: Final = listed(
    """
    Amber Birk Bram Brindle Cinder Copper Crag Dapple Drift Dun Elder Ember Fallow Flint Frost Gale Glen Gorse
    Hazel Heath Hollow Ivory Juni Kestrel Lark Linden Loam Marl Mist Moor Nettle Oaken Otter Pebble Pine Quill
    Raven Reed Rowan Rush Sable Sorrel Spindle Tarn Teasel Thistle Umber Vale Willow Wren Yarrow
    """
)
FAMILY_ENDS: Final = listed(
    """
    acre beck bourn bury combe cote crest croft dell den fell field firth ford gate grove ham hurst ing keld
    land leigh low mead mere mont more ness ridge rigg royd shaw side stead stoke thorpe toft ward wath well
    wick wold worth
    """
)
STREET_ENDS: Final = ("Street", "Road", "Lane", "Avenue", "Way", "Close")

GIVEN: Final = frozenset(
    listed(
        """
    aarav aaron abigail adam adrian ahmed aisha alan albert alejandro alessandro alex alexander alexandra alfred
    ali alice alicia alison amanda amelia amir amy ana andre andrea andreas andrei andrew angela anita anna anne
    anthony antonio arjun arthur ashley astrid barbara beatrice benjamin bernard bianca brandon brian bruno
    camila camille carla carlos carmen carol caroline catherine cecilia charles chen chiara christian christina
    christine christopher claire clara claudia colin cynthia daiki daniel daniela david deborah denise dennis
    diana diego dmitri dominic donald dorothy douglas eduardo edward eleanor elena eleni elias elisabeth
    elizabeth ella emily emma enrique eric erik ethan eva evelyn fatima felipe felix fernando fiona francesca
    francesco frank franziska frederick gabriel gabriela george gerald giovanni giulia grace gregory greta
    gustavo hannah hans harold haruto heather heidi helen helena henrik henry hiroshi hugo ian ibrahim ines
    ingrid irene isaac isabel isabella ivan jack jacob james jamie jan jane janet jason javier jean jeffrey
    jennifer jens jeremy jerry jessica joan joanna joao johannes john jonas jonathan jordan jorge jose joseph
    joshua juan juana judith julia julian julie justin karen karin karl katarina katharina katherine kathleen
    kavya keith kelly kenji kenneth kevin kimberly klaus kyle lars laura lauren laurent lea leila lena leo leon
    leonardo leticia liam linda lisa logan louis louise luca lucas lucia lucy luis luisa lukas magdalena manuel
    marc marcel marco marcus margaret maria mariana marie marina mario marta martha martin mary mateo mathias
    matteo matthew maximilian mei melanie melissa mia michael michelle miguel mikhail min minh mohamed mohammed
    monica muhammad nadia nancy naomi natalia natalie nathan nicholas nicole nikolai nina noah noor olga oliver
    olivia omar oscar pablo pamela patricia paul paula paulo pedro peter philip philipp pierre priya rachel
    rafael raj rajesh ralph raquel rebecca ricardo richard robert roberto roger roland ronald rosa ruth ryan
    samantha samuel sandra sara sarah satoshi scott sebastian sergei sergio sharon simon simone sofia sophia
    sophie stefan stefanie stephanie stephen steven susan sven sylvia takeshi tamara tanya tatiana teresa
    theresa thomas tiffany timothy tom tomas tyler ursula valentina valeria vanessa vera veronica victor viktor
    vincent vladimir walter wei wendy william xavier yan yara yasmin yuki yuri yusuf yvonne zachary zainab zoe
    """
    )
)
NEVER_NAMES: Final = frozenset(
    listed(
        """
    a about account address agent all allowance also am amex an and any april are arrival as assistant at august
    available avenue back bag baggage bags base basic be been book booking bot business but by cabin call cancel
    card case certificate change chat checked city class close code company confirm confirmation connecting
    contact could credit customer date day days dear december departure destination details did do does duration
    economy email error evening everyone fare february first flight flights for fri friday from gift gold good
    great guide had has have hello help here hey hi how human i id if in inbound insurance invoice is it item
    january journey july june just kind last let luggage madam march mastercard may me membership message mon
    monday morning my name need new next no non nonstop not november number october of ok okay on one option or
    order orders origin our out outbound passenger passengers payment paypal phoenix phone platinum please
    policy price problem product question reason refund regards regular replacement reply reservation return
    returning review road round sat saturday see segment september service ship shipping silver sincerely sir so
    social some sorry status still street subject sun sunday support sure system team thank thanks that the
    their them then there these they this those thu thursday ticket time to today tomorrow tool total travel
    trip tue tuesday type unfortunately update upgrade user username visa was way we wed wednesday welcome were
    what when where which who why will with world would yes yesterday you your
    """
    )
)
PARTICLES: Final = frozenset(
    listed(
        """
    al bin da de del della den der di dos du el la le van von y
    """
    )
)
TITLES: Final = frozenset(
    listed(
        """
    dr miss mr mrs ms mx prof sir
    """
    )
)
