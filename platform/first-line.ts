/** The first line of a text that isn't blank, with single spaces, cut to so many characters; '' if there is none. */
export function firstLine(text: string, maxCharacters: number): string {
  const lines = text.split(/[\n\u2028\u2029]/).map((each) => each.replaceAll(/\s+/gu, ' ').trim());
  const characters = [...(lines.find((each) => each !== '') ?? '')];
  const isLong = characters.length > maxCharacters;
  return isLong ? `${characters.slice(0, maxCharacters - 1).join('')}…` : characters.join('');
}
