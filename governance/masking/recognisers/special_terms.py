"""The words of the special categories, by category and by the form of sentence that makes a statement of them.

Sources: health by the chapters and blocks of ICD-10 (WHO) in everyday words; beliefs by the groups of the Pew Research
Center's "Global Religious Landscape"; ethnic groups by the United States' OMB categories and the minorities of the
Council of Europe's framework convention; unions by the names of the large federations; the other categories by the
wording of GDPR Articles 4, 9 and 10. A term is written as it stands in a sentence; a semicolon ends it.
"""

from __future__ import annotations

from typing import Final


def terms(block: str) -> tuple[str, ...]:
    """The terms of a block, the longest first."""
    return tuple(
        sorted((" ".join(term.split()) for term in block.split(";") if term.strip()), key=lambda one: -len(one))
    )


ILLNESSES: Final = """
cancer; breast cancer; lung cancer; prostate cancer; colon cancer; skin cancer; brain cancer; tumor; tumour; brain
tumor; brain tumour; leukemia; leukaemia; lymphoma; melanoma; diabetes; hypertension; high blood pressure; asthma;
copd; emphysema; epilepsy; seizures; migraine; migraines; depression; anxiety; an anxiety disorder; panic attacks;
panic disorder; bipolar disorder; schizophrenia; psychosis; ptsd; ocd; adhd; autism; asperger's; dementia;
alzheimer's; alzheimer; parkinson's; parkinson; multiple sclerosis; hiv; hepatitis; tuberculosis; covid; covid-19;
coronavirus; pneumonia; malaria; lupus; arthritis; rheumatoid arthritis; crohn's; crohn's disease; ulcerative colitis;
colitis; celiac disease; coeliac disease; kidney disease; kidney failure; kidney stones; liver disease; cirrhosis;
heart disease; heart condition; heart failure; heart attack; heart problems; stroke; angina; arrhythmia; thrombosis;
blood clot; blood clots; anemia; anaemia; hemophilia; haemophilia; sickle cell disease; cystic fibrosis;
endometriosis; miscarriage; abortion; eating disorder; anorexia; bulimia; addiction; drinking problem; drug problem;
peanut allergy; nut allergy; severe allergy; severe allergies; shellfish allergy; disability; physical disability;
learning disability; broken leg; broken arm; broken hip; concussion; pacemaker; glaucoma; psoriasis; herpes; syphilis;
chlamydia; gonorrhea; dyslexia; down syndrome; down's syndrome; fibromyalgia; sciatica; osteoporosis; chronic pain;
chronic illness; chronic fatigue; thyroid disease; mental illness; mental health issues; mental health problems;
mental breakdown; nervous breakdown; terminal illness; high-risk pregnancy; prosthetic leg; hearing loss; stoma;
colostomy bag; kidney transplant; liver transplant; heart transplant; heart surgery; brain surgery; knee surgery; hip
replacement; chemotherapy; radiation therapy
"""
CONDITIONS: Final = """
diabetic; pregnant; asthmatic; epileptic; autistic; bipolar; schizophrenic; hiv positive; hiv-positive; disabled;
blind; deaf; hard of hearing; visually impaired; hearing impaired; immunocompromised; immunosuppressed;
wheelchair-bound; a wheelchair user; in a wheelchair; paralyzed; paralysed; paraplegic; quadriplegic; suicidal;
clinically depressed; terminally ill; seriously ill; mentally ill; chronically ill; an alcoholic; alcoholic; a
recovering alcoholic; a drug addict; addicted; on dialysis; on chemo; on chemotherapy; on insulin; on antidepressants;
in rehab; in remission; in intensive care; in a coma; in hospital; in the hospital; hospitalized; hospitalised;
diagnosed; infected; allergic to; lactose intolerant; gluten intolerant; celiac; coeliac; anorexic; bulimic; dyslexic;
infertile; undergoing chemotherapy; undergoing chemo; undergoing surgery; undergoing dialysis; undergoing radiation;
undergoing treatment; undergoing ivf; recovering from surgery; recovering from a stroke; recovering from a heart
attack; recovering from cancer; being treated for; suffering from; battling; fighting cancer
"""
HEALTH_ACTS: Final = """
suffer from; suffers from; suffered from; take insulin; takes insulin; take antidepressants; takes antidepressants;
use a wheelchair; uses a wheelchair; use an insulin pump; tested positive for; test positive for; underwent; had a
heart attack; had a stroke; had a miscarriage; had an abortion; attempted suicide; need dialysis; needs dialysis; need
insulin; needs insulin; live with; lives with; lost a pregnancy; see a psychiatrist; sees a psychiatrist; go to
dialysis; goes to dialysis; became pregnant; got pregnant; broke my leg; broke my arm; broke his leg; broke her leg
"""
OWN_HEALTH: Final = """
cancer; chemo; chemotherapy; diabetes; depression; pregnancy; miscarriage; abortion; disability; illness; asthma;
epilepsy; dementia; autism; adhd; ptsd; hiv; dialysis; insulin; antidepressants; psychiatrist; oncologist; heart
condition; heart attack; heart surgery; stroke; surgery; mental health; medical condition; diagnosis; addiction;
wheelchair; pacemaker; tumor; tumour; allergy to; anxiety disorder; panic attacks; anxiety medication; blood pressure
medication; seizures; arthritis
"""
BELIEVERS: Final = """
muslim; a muslim; jewish; a jew; a christian; catholic; a catholic; protestant; a protestant; hindu; a hindu;
buddhist; a buddhist; sikh; a sikh; atheist; an atheist; agnostic; an agnostic; mormon; a mormon; a jehovah's witness;
a baptist; an evangelical; an evangelical christian; a born-again christian; eastern orthodox; a quaker; a pagan; a
wiccan; a scientologist; taoist; a jain; a zoroastrian; a seventh-day adventist; a methodist; lutheran; a lutheran;
pentecostal; deeply religious; very religious; not religious; converting to islam; converting to judaism; muslims;
jews; christians; hindus; buddhists; catholics; sikhs
"""
BELIEVING: Final = """
converted to islam; converted to christianity; converted to judaism; converted to catholicism; converted to buddhism;
practice islam; practise islam; practices islam; practice buddhism; believe in god; believe in allah; pray five times;
go to church; goes to church; go to mosque; go to the mosque; goes to the mosque; attend mass; attends mass; attend
church; keep kosher; keeps kosher; keep halal; eat halal; only eat halal; eat kosher; only eat kosher; observe
ramadan; observe shabbat; observe the sabbath; fast during ramadan; am fasting for ramadan; left the church
"""
OWN_BELIEF: Final = """
religion; faith; religious beliefs; religious belief; religious reasons; church; mosque; synagogue; rabbi; imam;
priest
"""
POLITICAL: Final = """
a republican; a democrat; a socialist; a communist; a conservative; a liberal; a libertarian; a marxist; an anarchist;
a social democrat; a feminist activist; a trump supporter; a biden supporter; a tory; republicans; democrats;
socialists; communists; a labour voter; a conservative voter; a green voter; left-wing; right-wing; far-left;
far-right; politically conservative; politically liberal; politically left; politically right; a member of the labour
party; a member of the green party; a member of the republican party; a member of the democratic party; a member of
the conservative party; a member of the communist party; a party member; a supporter of the labour party; a supporter
of the republican party; a supporter of the democratic party
"""
POLITICAL_ACTS: Final = """
voted for trump; voted for biden; voted for harris; voted for obama; voted for labour; voted for the; vote for labour;
vote for the; vote republican; voted republican; vote democrat; voted democrat; vote labour; voted labour; vote tory;
voted tory; vote conservative; voted conservative; vote green; voted green; support the republican party; support the
democratic party; supports the republican party; supports the democratic party; support the labour party; joined the
labour party; joined the green party; joined the republican party; joined the democratic party; joined the communist
party; joined the conservative party; campaign for the; campaigned for the; canvassed for the; am voting for; is
voting for
"""
OWN_POLITICS: Final = (
    "political views; political opinions; political opinion; political beliefs; politics; party membership"
)
ETHNIC: Final = """
black; african american; african-american; asian american; hispanic; latino; latina; latinx; native american;
caucasian; white; roma; romani; a gypsy; aboriginal; indigenous; mixed race; mixed-race; biracial; a person of color;
a person of colour; kurdish; arab; a black man; a black woman; a white man; a white woman; an asian man; an asian
woman; of african descent; of asian descent; of arab descent; of jewish descent; of turkish descent; of indian
descent; of chinese descent; of korean descent; of mexican descent; of african origin; of asian origin; of arab
origin; of turkish origin; of indian origin; of kurdish origin; ethnically chinese; ethnically korean; ethnically
jewish; ethnically kurdish; ethnically roma; half black; half asian; half-black; half-asian
"""
OWN_ETHNICITY: Final = (
    "ethnicity; ethnic origin; ethnic background; race is; racial background; skin color; skin colour"
)
ORIENTATIONS: Final = """
gay; lesbian; a lesbian; bisexual; homosexual; queer; asexual; pansexual; transgender; trans; a trans woman; a trans
man; nonbinary; non-binary; intersex; polyamorous; heterosexual; gay and; a gay couple; a lesbian couple; a gay man; a
gay woman; a same-sex couple; a sex worker; sexually active; in a same-sex relationship; into men; into women;
attracted to men; attracted to women
"""
SEXUAL_ACTS: Final = """
came out as gay; came out as lesbian; came out as bisexual; came out as trans; came out as transgender; identify as
gay; identify as queer; identify as bisexual; identify as lesbian; identify as nonbinary; identify as non-binary;
identify as transgender; identifies as gay; identifies as nonbinary; identifies as transgender; had sex; have sex; had
unprotected sex; slept with; cheated on
"""
OWN_SEX: Final = (
    "sexual orientation; sexuality; sex life; sexual partner; sexual partners; gender transition; gender identity"
)
UNIONISTS: Final = """
a union member; a union rep; a union representative; a union organizer; a union organiser; a shop steward; a union
steward; a trade unionist; in a union; in the union; in a trade union; unionized; a member of the union; a member of a
union; a member of a trade union; a member of the teamsters; a member of unison; a member of the trade union; a member
of the teachers' union; a member of the teachers union; a member of ver.di; a member of ig metall; a member of the
uaw; members of the union; union members; on strike with the union
"""
UNION_ACTS: Final = """
joined the union; joined a union; joined the trade union; joined a trade union; joined our union; joined the teachers'
union; joined the teamsters; joined ver.di; joined ig metall; belong to a union; belong to the union; belong to a
trade union; belongs to a union; belongs to the union; belongs to a trade union; belong to unison; pay union dues;
pays union dues; left the union; organized a union; organizing a union; represent the union
"""
OWN_UNION: Final = (
    "union membership; union dues; union rep; union representative; union card; trade union; shop steward; union is"
)
GENES: Final = """
brca; brca1; brca2; brca1 mutation; brca2 mutation; brca mutation; brca gene; gene mutation; genetic mutation; genetic
disorder; genetic predisposition; genetic variant; genetic marker; genetic condition; huntington's gene; sickle cell
trait; apoe4; lynch syndrome; factor v leiden; chromosomal abnormality; hereditary mutation
"""
OWN_GENES: Final = """
dna test; dna results; dna profile; dna sample; dna sequence; genetic test; genetic results; genetic test results;
genome; genotype; genetic data; genetic code; genetic sequencing; genetic counselor
"""
OWN_BIOMETRICS: Final = """
fingerprint; fingerprints; fingerprint scan; iris scan; retina scan; retinal scan; face scan; facial scan; facial
template; face template; faceprint; voiceprint; voice print; palm print; biometric data; biometric template;
biometrics; face id template; facial recognition data; gait pattern
"""
OFFENCES: Final = """
arrested; convicted; charged with assault; charged with theft; charged with fraud; charged with murder; charged with
robbery; charged with possession; charged with burglary; charged with dui; charged with drunk driving; charged with a
felony; charged with a crime; charged with domestic violence; sentenced; imprisoned; jailed; incarcerated; indicted;
found guilty; on probation; on parole; in prison; in jail; a convicted felon; a felon; an ex-convict; an ex-con; a
registered sex offender; a sex offender; out on bail; under house arrest; wanted by the police; released from prison;
released from jail; on the sex offender registry
"""
OFFENDED: Final = """
criminal record; criminal conviction; criminal convictions; criminal history; felony; felony conviction; prior
conviction; prior convictions; dui; dui conviction; police record; outstanding warrant; arrest warrant; prison record;
misdemeanor conviction; drug conviction; theft conviction; restraining order
"""
OFFENCE_ACTS: Final = """
served time; served a prison sentence; served two years in prison; spent time in prison; spent time in jail; did time;
went to prison; went to jail; pleaded guilty; pled guilty; got arrested; got convicted; got a dui; was in prison; was
in jail; committed a crime; committed a felony
"""
OWN_OFFENCES: Final = """
criminal record; criminal conviction; criminal history; conviction; felony; felony conviction; parole officer;
probation officer; parole; probation; prison sentence; jail sentence; arrest; dui; mugshot
"""
RELATIVES: Final = """
wife; husband; son; daughter; mother; mom; mum; mama; father; dad; brother; sister; partner; spouse; child; kid; kids;
children; baby; boss; colleague; coworker; co-worker; friend; boyfriend; girlfriend; fiance; fiancé; fiancee; fiancée;
uncle; aunt; grandmother; grandfather; grandma; grandpa; granny; cousin; nephew; niece; parents; mother-in-law;
father-in-law; brother-in-law; sister-in-law; companion; travel companion; roommate; neighbor; neighbour; employee;
client; patient; student; landlord; tenant; ex; ex-wife; ex-husband; toddler; infant; stepson; stepdaughter; manager;
teacher; assistant; customer; family; twins; grandson; granddaughter; best friend; elderly mother; elderly father;
late husband; late wife
"""
