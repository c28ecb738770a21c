const letters: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ß: 'ss',
  þ: 'th',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  ı: 'i',
  ħ: 'h',
  ə: 'a',
  ǝ: 'a',
}

/** A name as people type it: lower case, without accents. `'São Paulo'` becomes `'sao paulo'`. */
export function plainName(name: string): string {
  return name
    .normalize('NFD')
    .replaceAll(/[\p{M}'‘’”ʻʼ]/gu, '')
    .toLowerCase()
    .replaceAll(/[æœøßþđðłıħəǝ]/g, (letter) => letters[letter] ?? letter)
}
