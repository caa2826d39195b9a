#pragma once
#include <array>
#include <string_view>

namespace mpitron::data {

/// A language by its name in nltk: abbreviations without their period, and words that often begin a
/// sentence, in lower case.
struct SentenceWordLists {
  std::string_view language, abbreviations, starters;
};

inline constexpr std::array<SentenceWordLists, 7> kSentenceWordLists{{
    {"english",
     "adj adm adv al approx apr apt art assn assoc asst aug ave bart bldg blvd brig bros ca capt "
     "cent cf "
     "chap cie cmdr co col comdr conn corp cpl ct ctr dec dept dist div dr ed eds elec eng esp esq "
     "est "
     "etc ex exec ext feb fed fig figs fl ft gen gov govt hon hwy ibid inc inst jan jr jul jun km "
     "lb lbs "
     "lt ltd maj mar max mfg mgr min misc mme mr mrs ms msgr mt mtn nat natl no nos nov oct op oz "
     "para "
     "pfc pp pres prof prop pt pty pub pvt rep reps repr res ret rev rom rt sec sen sens sep sept "
     "sgt sq "
     "sr ss st ste sup supt surg tel temp tenn tex treas univ va vol vols vs vt wash wis yd yr yrs "
     "messrs "
     "mlle ph.d u.s u.k u.n u.s.a a.m p.m e.g i.e viz ariz calif colo ill ind kan mass mich minn "
     "okla "
     "ore ont penn",
     "the a an this that these those he she it we they you i his her its our their my your in on "
     "at by "
     "for from with without to as if when while where what who why how there here then thus but "
     "and or "
     "so yet nor not no some many most few several all each every both one after before during "
     "since "
     "until although though because however moreover therefore meanwhile also more according under "
     "over "
     "between among such another other even now still only just once is are was were do does did "
     "has have "
     "had can could will would should may might must"},
    {"german",
     "abb abs abschn akad allg anm apr art aufl aug ausg bd bde bearb bes betr bez bsp bzgl bzw ca "
     "chr d.h "
     "dez dgl dipl dr ebd ehem einschl etc ev evtl exkl fa feb ff fig folg fr frl geb gegr gest "
     "ggf gr hl "
     "hr hrn hrsg i.d.r ing inkl insb jan jh jhd jul jun kap kath lat lt max med mind mio mr mrd "
     "mrz msc "
     "nachm nov nr o.ä okt op orig pol prof rd red resp rev s.o s.u sep sept sog spez st std str "
     "tab tel "
     "u.a u.u übers usf usw u.s.w v.a v.chr verf verl vgl vol vorm z.b z.t zit zs ztr zw zzgl",
     "der die das ein eine einer eines dem den des er sie es wir ihr ich im in am an auf aus bei "
     "mit nach "
     "von vor zu zum zur für über unter und aber oder doch denn wenn als wie was wer wo warum dann "
     "da "
     "dies diese dieser dieses jede jeder alle auch nur noch nicht kein keine so sein seine ihre "
     "man "
     "nachdem obwohl während weil seit"},
    {"french",
     "adj adm al art av avr bd boul c.-à-d cap cf ch chap cie cm col coll dec dép dept dir dr ed "
     "éd etc ex "
     "fasc fév fig fr gal hab ibid id inc janv juil lt ltd m mai max me mgr min mlle mlles mm mme "
     "mmes ms "
     "n no nov obs oct op p p.ex p.-s par ph.d pp prof r.s.v.p réf s.a sept ste suppl sv t tél "
     "trad univ "
     "v vol vs",
     "le la les un une des du de il elle ils elles on nous vous je ce cet cette ces c'est mais et "
     "ou donc "
     "or ni car si quand lorsque comme dans en sur sous avec sans pour par après avant depuis "
     "pendant son "
     "sa ses leur leurs mon ma mes notre nos tout tous toute toutes aussi ainsi alors plus même "
     "qui que "
     "quoi où"},
    {"spanish",
     "a.c aa.vv ap art av avda cap cf cía col d d.c dep dir dña dr dra ed ej etc excmo fdo fig "
     "gral ha "
     "ilmo inc ing izq lic ltda max mín ms n no núm p p.ej pág págs pp prof profa prov ref rev s "
     "s.a sr "
     "sra sres srta sta sto tel trad univ ud uds vd vds vol vs ee.uu",
     "el la los las un una unos unas él ella ellos ellas lo le se su sus mi mis nuestro nuestra "
     "este esta "
     "estos estas ese esa esto eso aquel en de del a al con sin por para desde hasta entre sobre "
     "tras y e "
     "o pero sino aunque porque cuando como donde que quien si no también además así entonces "
     "después "
     "antes durante todo todos cada"},
    {"italian",
     "a.c all art artt avv c.a cap cav cfr co col d.c dir dott dr ecc ed es fig figg gen geom id "
     "ing "
     "lett max mons n no nn on op p p.es pag pagg par pp prof proff prof.ssa rag red ref rev s.p.a "
     "sen sez "
     "sig sigg sig.ra sig.na ss st tab tel trad v vol voll vs",
     "il lo la i gli le un uno una egli ella esso essa loro noi voi io lui lei questo questa "
     "questi "
     "queste quello quella in di a da con su per tra fra del della dei delle nel nella al alla ma "
     "e o se "
     "quando come dove perché che chi non anche inoltre così allora poi dopo prima durante ogni "
     "tutto "
     "tutti"},
    {"portuguese",
     "a.c art av ca cap cel cf cia d d.c dep dir dr dra drs ed etc ex exa exmo fig gen ilmo inc jr "
     "ltda "
     "max min n no núm obs p p.ex pág págs pe pp prof profa ref rev s s.a sr sra srs srta sto sta "
     "tel "
     "univ v vol vs",
     "o a os as um uma uns umas ele ela eles elas eu nós você vocês este esta estes estas esse "
     "essa isto "
     "isso aquele em no na nos nas de do da dos das com sem por para pelo pela desde até entre "
     "sobre e ou "
     "mas porém porque quando como onde que quem se não também além assim então depois antes "
     "durante todo "
     "todos cada"},
    {"dutch",
     "a.h.v afb afd afl apr art aug bijv blz bv ca d.m.v d.w.z dec dhr div dr drs e.a e.d ed enz "
     "etc "
     "evt excl feb fig gebr gem i.p.v i.v.m incl ing ir jan jhr jl jr jul jun kon lic max mevr min "
     "mr mrt "
     "mw n.a.v n.v nl nov nr o.a o.l.v okt p pag plm pp prof red resp sept sr st t.a.v t.o.v tel "
     "vgl vol "
     "vs wo z.g zgn",
     "de het een hij zij ze wij we jij je ik dit dat deze die er in op aan bij met naar van voor "
     "door uit "
     "over onder en maar of want dus als wanneer toen hoe wat wie waar waarom niet geen ook nog "
     "dan daar "
     "hier na tijdens omdat hoewel zijn haar hun ons onze alle elke veel"},
}};

}  // namespace mpitron::data
