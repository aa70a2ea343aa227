"""Word lists: syllables of made-up names, given names that tell a person, and words that never name one.

The syllables combine to names that nobody is known to bear, so a surrogate points at no real person. The given names
are common ones of some fifty countries; names that are as often a place or a plain word are left out.
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
        aaliyah aarav aaron abdul abdullah abigail adam adele adrian adriana agnes agnieszka ahmed aidan aiden
        aiko aino aisha akira alan alana alastair albert albina alejandro aleksander aleksandr alena alessandra
        alessandro alessia alex alexander alexandra alexis alfonso alfred alfredo ali alice alicia alina alisha
        alison alistair allison alvaro amalia amanda amara amelia amina amir amit amita amrita amy ana anastasia
        andre andrea andreas andrei andres andrew andrzej aneta angela angelina angelo anika anil anita anjali
        ankit anna annabel annalisa anne anneliese annette annika ansel anthony antoine anton antonella antonia
        antonio antti anya aoife apolonia ariana arjen arjun arnaud arne artem arthur arturo ashley ashok ashraf
        asif astrid atsuko audrey augusto aurelie ayesha ayse aziz barbara barbora bartosz beatrice beatriz
        belinda benedikt benjamin bernadette bernard bernardo bernd bertram bertrand beth bettany bettina bhavna
        bianca billy birgit birgitte bjorn björn bobby bogdan boris brad brandon brenda brendan brett brian
        bridget brigitte bruce bruno bryan caitlin caleb calvin camila camille candice carl carla carlo carlos
        carlotta carly carmel carmen carol carolina caroline carolyn carsten cassandra catalina catarina
        catherine cathy cecile cecilia cedric celia cesar chantal charlene charles charlotte chen cheryl chiara
        chloe chloé christa christelle christian christina christine christoph christophe christopher cindy
        claire clara clarissa claude claudia claudio clemens clement colette colin connor conrad constance
        corinne cornelia courtney craig cristian cristiano cristina curtis cynthia cyril dagmar daiki damian
        damien daniel daniela daniele danielle danny danuta dario darius dariusz darren dave david davide debbie
        deborah deepak delphine denise dennis derek desmond devika diana diego dieter dimitri dimitris dirk
        divya dmitri dmitry dominic dominik dominique donald donna dorota dorothea dorothy douglas duncan dylan
        ebba edgar edith edmund eduard eduardo edward edwin eileen eira ekaterina elaine eleanor elena eleni
        eliana elias elif elisabeth eliza elizabeth elke ella ellen elliot elodie eloise elsa elvira emil emilia
        emiliano emilie emily emine emma emmanuel emre enrique enzo eric erik erika erin ernst erwin esra
        esteban estelle esther ethan eugene eugenia eugenio eva evelyn evgeny ewa fabian fabien fabio fabrizio
        faisal farah farid faruk fatima fatma fatoumata federica federico felicity felipe felix ferdinand
        fernanda fernando filip filippo finn fiona francesca francesco francisca franco francois francoise frank
        franz franziska françois françoise freddie frederic frederick frederik frederikke freya frida friedrich
        fritz fumiko gabriel gabriela gabriele gaetano geoff geoffrey georg george georges georgina georgios
        gerald gerard gerhard gertrude ghulam gianluca gianni gilbert giorgio giorgos giovanni gisela giulia
        giuseppe gleb glenda goran grace graeme graham greg gregory greta grzegorz guido guillaume guillermo
        gunnar gunther gustavo gwen gwendolyn günther habib hakan halima hamza hannah hans harald harold haroon
        harriet harry haruto harvey hasan hassan heather hector hedwig heidi heinrich heinz helen helena helga
        helmut henning henri henrietta henrik henry herbert herman hermann hilda hilde hiroshi holger hubert
        hugo husain hussein ian ibrahim ibrahima ignacio igor ildiko imran indira ines inga inge ingeborg inger
        ingrid ingvar irena irene irina irma isaac isabel isabella isabelle isaiah ishaan isla ismail istvan
        istván ivan ivana ivo ivona izabela jacek jack jacob jacqueline jacques jakob jakub james jamie jan jana
        jane janet janice janina jarmila jaroslav jason javier jaya jayden jean jeanette jeanne jeff jeffrey
        jelena jenna jennie jennifer jenny jens jeremy jerry jesper jessica jessie jim jimmy jing jiri jiří
        joachim joakim joan joanna joao jocelyn joe joel joelle johan johann johanne johannes john johnny jonas
        jonathan joost jordan jorge jorgen jose josef josefina josefine joseph josephine josh joshua josie jozef
        juan juana juanita judith judy juergen juha julia julian juliana julie julien juliet juliette julio
        jussi justin justine justyna józef jørgen jürgen kamal kamil kamila karen karim karin karina karl karol
        karolina kasia kaspar katarina kate katerina kateřina katharina katherine kathleen kathryn kathy katie
        katja katrin katrina katrine katya kavya kazuko keiko keith kelly kelvin kenji kenneth kerstin kevin
        khadija khalid kieran kimberly kiran kirsten kirsty klara klaus konrad konstantin kristen kristian
        kristin kristina kristine kristof krzysztof kumiko kwame kyle kylie kyoko laila lakshmi lara larissa
        larry lars lasse laszlo latoya laura lauren laurent lavinia lea leif leigh leila lena lennart leo leon
        leonard leonardo leonie leopold leslie leticia liam lidia lieke liesbeth lilian lillian lina linda
        lionel lisa lisbeth liselotte liz lloyd logan lois lorena lorenzo loretta lorna lorraine lothar lotte
        louis louise luca lucas lucia luciana luciano lucy ludmila ludwig luigi luis luisa luise luiza lukas
        lukasz luke lydia lynn lynne lászló maarten maciej maddalena madeleine mads mafalda magdalena magnus
        maha mahmoud maike maja malcolm malgorzata malik malin manfred manoj manuel manuela marc marcel marcela
        marcello marcelo marcia marcin marco marcus marek margaret margarethe margarita margaux margit margot
        maria mariam marian mariana marianne maribel marie marija marijke marika marilyn marina mario marion
        marisa marisol mariusz marlene marlies marta martha martijn martin martina martine mary masako mateo
        mathias mathieu mathilde mathis mats matt matteo matthew matthias matthieu matti maureen maurice
        mauricio maurizio mauro maxime maximilian małgorzata megan mehmet mei melanie melinda melissa meredith
        merete mette mia michael michaela michal michał micheal michel michela michele michelle miguel mikael
        mike mikhail mikkel mikko mila milena milica milos miloš min mina minh minna miranda mireille miriam
        mirjam mirko miroslav misaki mitchell mohamad mohamed mohammad mohammed mohan moira molly mona monica
        moritz mostafa muhammad murat mustafa myriam nadia nadine nancy naoko naomi natacha natalia natalie
        natasha nathalie nathan nathaniel neha neil nelly nerea nicholas nico nicola nicolas nicole nicoletta
        niels nigel nikhil nikita nikola nikolai nils nina nisha noah noemi noor nora norbert noriko nuno
        octavio odette oksana olaf oleg olga oliver olivia olivier omar omari oscar oskar osman ottavia otto
        owen pablo padma pamela pascal pascale patricia patrick patrik patrizia patryk paul paula paulette
        paulina pauline paulo pavel pavlos pawel paweł pedro pekka penelope peter petr petra petros phil philip
        philipp philippa philippe philippine phoebe phyllis pia pierluigi pierre pieter piotr pooja pradeep
        prakash pranav praveen preeti priya rachel rachid radek rafael rafaela rafal rafał rahul raimund raisa
        raj rajesh rajiv ralf ralph ramesh rami ramon ramona randall rania raquel rashid rasmus raul ravi
        raymond rebecca rebekah reece reiko reinhard renata renate rene renee rhys ricarda ricardo riccardo
        richard rita robert roberta roberto rocio rodolfo rodrigo roger rohan rohit roland rolf romain ronald
        ronan ronja rosa rosalie rosalind rosanna roxana roxanne ruben rupert ruslan rutger ruth ryan sabrina
        sachin sadie salma salvatore samantha samira samuel sandeep sandra sandrine sanjay sanna sara sarah
        saskia satoshi scott sean sebastiaan sebastian selma serena serge sergei sergey sergio shane shannon
        sharon shauna sheila shirley shreya siegfried sigrid sigurd silas silke silvia silvio simon simona
        simone siobhan slavka slobodan sofia solveig sonia sonja sonya sophia sophie soren stacey stanislav
        stanislaw stefan stefanie stephan stephane stephanie stephen steve steven stewart stine stuart stéphane
        sumit sunita suresh susan suzanne svein sven svetlana sybille sylvain sylvia sylvie søren tadeusz
        takeshi tamara tania tanja tanya taro tatiana tatjana terence teresa terje terrence terry thaddeus thea
        thelma theo theodor theodore theresa therese thierry thijs thomas thorsten tiago tiffany tilde timo
        timothy timur tina tobias todd tom tomas tomasz tommy tomoko tony torsten tracey tracy trevor tristan
        trond tyler ulf ulrich ulrike umberto ursula uwe vaclav valentin valentina valeria valerie valerio
        vanessa vasily vera verena veronica veronika veronique vesna vicente vicky victor vijay vikram viktor
        viktoria vilma vincent vincenzo vinod violeta vittoria vittorio vivian vivienne vladimir vladislav
        vojtech volker vsevolod václav véronique waldemar walid walter wanda wei wendy werner wiktor wilfred
        wilhelm willem willemijn william winifred wioletta wojciech wolfgang xavier xiaoming ximena yan yannick
        yara yasmin yasmine yasuko yoko yolanda yoshiko youssef yuki yuko yulia yuri yusuf yvette yvonne zachary
        zainab zara zbigniew zdenka zeynep zoe zofia zoltan zoltán zsofia zsuzsanna zuzana łukasz
        """
    )
)
GIVEN_ALONE: Final = GIVEN - frozenset(
    listed(
        """
        alan ana carmel carol charlotte chen christian clement constance diego ella eva felicity finn frank
        franz grace hans helena jack jan jean jerry jordan kelvin lars lea linda louis marina mary mei mia mike
        min noor paula pia ralph rene rita rosa ruth sofia sonia sophia susan terry theresa tom tony victor wei
        yan yuri zoe
        """
    )
)
"""Given names that tell a person without any other word beside them; not those that are a word or a brand too."""
NEVER_NAMES: Final = frozenset(
    listed(
        """
    a about account address agent all allowance also am amex an and any april are arrival as assistant at august
    available avenue back bag baggage bags base basic be been book booking bot business but by cabin call cancel
    card case certificate change chat checked city class close code company confirm confirmation connecting
    contact could credit customer date day days dear december departure destination details did do does duration
    dob economy email error evening everyone fare february first flight flights for fri friday from gift gold good
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
    al bin da de del della den der di dos du el la le ten ter van vom von y zu
    """
    )
)
TITLES: Final = frozenset(
    listed(
        """
        dr miss mr mrs ms mx prof professor sir madam mister frau herr señor señora monsieur madame mme mlle rev
        """
    )
)
