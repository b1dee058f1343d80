import { wordSet } from './word-set.ts'

/**
 * Frequent words and greetings by ISO 639-1 code, for texts of a few words, where letter statistics say little. A word
 * that two languages share helps neither against the other.
 */
export const commonWords: Readonly<Record<string, ReadonlySet<string>>> = {
  en: wordSet(`the of and to a in is it you that he was for on are with as i his they be at one have this from or had by
    hot but some what there we can out other were all your when up use how said an each she which do their time if will
    way about many then them would like so these her him has two more go no could my than been who its now did get may
    me over not after also back any good new want because day most us hello hi hey please thanks thank yes okay ok
    today tomorrow morning night world test speech voice say three four five six seven eight nine ten don't
    it's i'm let's can't where why am our first last little just know take people into year see only come think look
    english goodbye bye welcome sorry love great nice very much what's that's here ask pour drink hard die old
    long problem friend thing man woman house life work home place name number right left end open close door next error
    file chapter page table list start stop bad happy money water`),
  de: wordSet(`der die das und ist nicht ich du er sie es wir ihr ein eine einen einem einer zu mit auf für von dem den des im
    sich auch als an nach wie bei aus war wird sind hat haben aber oder wenn noch nur so kann mein dein kein heute
    guten tag morgen abend danke bitte hallo wo wer warum gut sehr geht geht's dir mir mich dich über schön vom zum zur
    welt nie immer gestern weiß nein ja vielen dank wiedersehen entschuldigung`),
  fr: wordSet(`le la les un une des et est pas je tu il elle nous vous ils elles que qui dans pour sur avec ce cette ces au aux du
    de en ne se plus mais ou où être avoir fait sont bonjour bonsoir merci comment très bien oui non c'est j'ai d'un d'une
    qu'il qu'elle n'est aussi leur mon ma mes son sa ses votre notre salut monde aujourd'hui quoi ça suis es êtes va t'aime
    je t'aime s'il plaît à bientôt revoir demain hier`),
  es: wordSet(`el la los las un una y es no que en de del por para con se su lo al como más pero sus le ya o este sí porque esta
    entre cuando muy sin sobre también me hasta hay donde quien desde todo nos uno ni ese eso soy eres estoy está sé
    hola gracias buenos días cómo estás qué señor mundo hoy bien mi tu yo ella nosotros buenas tardes noches adiós mañana
    ayer favor mucho muchas siento`),
  it: wordSet(`il lo la i gli le un uno una e è di che non in per con sono si da del della dei delle nel nella al alla come più
    ma anche se mi ti ci questo questa quello io tu lui lei noi ciao grazie buongiorno perché molto bene ho hai ha sei siamo
    cosa dove quando mondo oggi tutto tutti essere fare sera buona buono prego sto stai mio mia suo sua favore domani ieri
    mille va dispiace quanto`),
  pt: wordSet(`o a os as um uma e é de do da dos das em no na nos nas que não por para com se mais como mas foi ao ele ela eu
    você nós isso esta este são está tem ou ser quando muito há já também só pelo pela até olá obrigado obrigada bom
    dia boa noite tarde mundo hoje tudo bem meu minha seu sua aqui onde sei desculpe amanhã ontem favor`),
  nl: wordSet(`de het een en is niet ik je jij hij zij we wij van in op te dat die voor met aan er maar om ook als bij naar nog
    dan uit wel geen mijn jouw ons onze goedemorgen goedenavond dank hallo hoe gaat tot ziens alsjeblieft weet wat wie waar
    waarom morgen gisteren vandaag`),
  pl: wordSet(`i w na z do się nie to jest że jak o co po ale za od jego jej ich czy tak już tylko może jestem mam masz dzień
    dobry dziękuję proszę cześć bardzo wiem gdzie kto kiedy dlaczego jutro wczoraj dziś dobranoc widzenia`),
  tr: wordSet(`bir ve bu da de için çok ne mi o ben sen biz siz onlar var yok değil daha gibi ama en kadar merhaba günaydın
    teşekkür ederim evet hayır lütfen nasılsın nerede kim neden bugün yarın dün bilmiyorum hoşça kal`),
  sv: wordSet(`och i att det som en på är av för med den till inte om ett har jag du han hon vi ni de var men så kan från hej
    tack god morgon mycket varsågod mår hur vad vem varför ja nej då idag imorgon igår vet`),
  vi: wordSet(`là và của có không tôi bạn anh chị em được người này cho một những với đã đang sẽ xin chào cảm ơn tạm biệt gì
    ở đâu ai rất khỏe biết`),
  cs: wordSet(`a v je se na že to s z do o si jsem jsi není byl by za ale jak tak po pro dobrý den děkuji prosím ahoj ano ne
    kde kdo proč dnes zítra včera`),
  hu: wordSet(`a az és hogy nem is egy ez van de meg csak volt ha jó napot köszönöm kérem igen hol ki mi miért ma holnap
    tegnap szia`),
  fi: wordSet(`ja on ei se että hän en oli olen minä sinä me te he mutta kun niin myös hyvää päivää huomenta kiitos moi missä
    kuka miksi tänään huomenna eilen`),
  ms: wordSet(`yang dan di ini itu dengan untuk tidak dari saya anda kami kita akan pada ada ke dia mereka sudah bisa selamat
    pagi malam terima kasih apa siapa mana besok kemarin`),
}

/** Common English words that no other language in Latin letters writes alike. */
export const englishOnly: ReadonlySet<string> = wordSet(`
  the and you that with they this have from what there which their would these been who could because your when she his
  how about then them will where why our people think should before after through little only know every again please
  thank hello morning today tomorrow don't it's i'm can't let's isn't doesn't wasn't there's that's what's very much
  while still between another never always might those into than other does were once until since without something
`)
