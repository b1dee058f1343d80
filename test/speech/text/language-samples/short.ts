/** Texts of one to three words. They count as English where they could be either. */
export const short: Readonly<Record<string, readonly string[]>> = {
  English: `Hello|OK|Yes|Thanks a lot|Test|Good morning|Pizza|Amen|Bravo!|Anna|John Smith|García|Los Angeles|San José|
    Café au lait|Table for two|Chapter one|Next|Error 404|No|Internet|Hotel California|Die hard|Sushi bar|Déjà vu|
    Open the door|Version 2.0|Monday|Warning|Berlin Wall`.split(/\|\s*/),
  German:
    'Guten Morgen|Vielen Dank|Wie geht’s?|Auf Wiedersehen|Bitte schön|Ich weiß nicht|Straßenbahn|Entschuldigung'.split(
      '|',
    ),
  French: 'Bonjour|Merci beaucoup|À bientôt|S’il vous plaît|Je t’aime|Ça va ?|Très bien|Au revoir'.split('|'),
  Spanish: 'Buenos días|Muchas gracias|¿Qué tal?|Hasta mañana|Por favor|Lo siento|No sé|Mucho gusto'.split('|'),
  Italian: 'Buongiorno|Grazie mille|Come stai?|Per favore|Mi dispiace|Va bene|A domani|Quanto costa?'.split('|'),
  Portuguese: 'Bom dia|Muito obrigado|Tudo bem?|Até amanhã|Por favor|Não sei|Boa noite|Desculpe'.split('|'),
  Dutch: 'Goedemorgen|Dank je wel|Hoe gaat het?|Tot ziens|Alsjeblieft|Ik weet niet'.split('|'),
  Polish: 'Dzień dobry|Dziękuję bardzo|Jak się masz?|Do widzenia|Proszę|Nie wiem'.split('|'),
  Turkish: 'Günaydın|Teşekkür ederim|Nasılsın?|Hoşça kal|Lütfen|Bilmiyorum'.split('|'),
  Swedish: 'God morgon|Tack så mycket|Hur mår du?|Hej då|Varsågod|Jag vet inte'.split('|'),
  Vietnamese: 'Xin chào|Cảm ơn bạn|Bạn khỏe không?|Tạm biệt|Không biết|Chúc ngủ ngon'.split('|'),
}
