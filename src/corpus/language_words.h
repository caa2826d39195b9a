#pragma once

#include <array>
#include <string_view>

// Words that a language uses often and others do not.

namespace mpitron::corpus {

/// A language's most common words, by frequency.
struct Words {
  std::string_view code, words;
};

inline constexpr std::array<Words, 14> kWords{{
    {"en",
     "the of and to in a is that for it was on with as be by at from this have are or his he she "
     "they not but had which you an were their been has will would there what when who all can "
     "more "
     "about into its than them then these some could other after our your i we do if my so no"},
    {"de",
     "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an "
     "werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum "
     "war "
     "haben nur oder aber vor zur bis mehr durch man sein wurde ich wir ihr kann wenn"},
    {"fr",
     "le de la les et des en un une du que est pour qui dans a par plus pas au sur ne se ce il "
     "sont "
     "avec son aux ou mais comme on lui nous cette ses ont été leur elle sa bien être fait tout "
     "vous "
     "aussi sans deux même ces entre je ils était d l"},
    {"es",
     "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le "
     "ha "
     "me sin sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta "
     "desde está mi porque qué sólo han yo hay vez"},
    {"it",
     "di e il la che in a per un è del non una i con le da si della al dei sono gli nel come più "
     "lo "
     "alla ha anche ma o delle se dal su questo suo nella ci era loro ed due essere degli stato "
     "hanno "
     "molto tra dopo quando cui mi già sia"},
    {"pt",
     "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele "
     "das "
     "tem à seu sua ou ser quando muito há nos já está eu também só pelo pela até isso ela entre "
     "era "
     "depois sem mesmo aos ter seus"},
    {"nl",
     "de van een het en in is dat op te zijn met voor niet aan er om ook als dan maar bij of uit "
     "nog "
     "door naar heeft hij ze wordt tot je worden deze over meer ik was die hun wat kan werd al "
     "geen "
     "wel had we moet zo haar"},
    {"sv",
     "och i att det som en på är av för med till den har de inte om ett han men var jag sig från "
     "vi så "
     "kan när år säger hon under också efter eller nu sin där vid mot ska skulle kommer ut får "
     "finns "
     "vara hade alla andra mycket än här då sedan"},
    {"da",
     "og i at det er en til på som for med af de den har ikke der et han var jeg men sig vi fra om "
     "så "
     "kan blev efter ved også hun nu skal over eller mange havde hvor vil ud da ind mod være op "
     "når "
     "blive sin år kun noget"},
    {"no",
     "og i det er på som en til at av for med har de ikke den om et var jeg han fra men vi seg så "
     "kan "
     "også etter skal ved hun nå være over eller mange hadde hvor vil ut da inn mot opp når bli "
     "sin år "
     "bare noe blitt"},
    {"pl",
     "w i na z się nie do to że jest o a jak po co tak za od przez dla ale jego czy już tylko być "
     "oraz "
     "był może go ma które przed ze jej który był są także było lub tym ich tego bardzo jako przy "
     "jednak "
     "kiedy jeszcze"},
    {"cs",
     "a v se na je že to s z o do i jako ve k pro za by jsem ale po jeho od být jak si už tak "
     "které když "
     "nebo byl co byla jsou také jen podle až této který jejich při není bude ještě má před však"},
    {"tr",
     "ve bir bu da de için ile olarak daha çok en olan gibi sonra kadar ne var her ama o ya ki mi "
     "değil "
     "olduğu ise göre oldu ben sen biz bunu şey diye iki yıl zaman yeni büyük tarafından veya hem "
     "bile"},
    {"ro",
     "de și în a la cu pe care nu un o din să că se este mai al pentru au ca sau fost lui prin "
     "sunt ce "
     "dar ale după fi către până când ei era acest această doar fie între cea cel foarte"},
}};

}  // namespace mpitron::corpus
