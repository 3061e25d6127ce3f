/** What a search page says. `{count}` and `{query}` are filled in. */
export type SearchTexts = {
  title: string;
  label: string;
  searching: string;
  none: string;
  one: string;
  many: string;
  more: string;
  failed: string;
  /** Without scripts, or from a folder. */
  needsServer: string;
};

const ENGLISH: SearchTexts = {
  title: 'Search',
  label: 'Search these pages',
  searching: 'Searching…',
  none: 'No results for “{query}”',
  one: '1 result for “{query}”',
  many: '{count} results for “{query}”',
  more: 'More results',
  failed: 'The search failed. Try again.',
  needsServer: 'The search needs JavaScript and a web server: it does not work from a folder.',
};

const TEXTS: Record<string, SearchTexts> = {
  en: ENGLISH,
  de: {
    title: 'Suche',
    label: 'Diese Seiten durchsuchen',
    searching: 'Suche läuft …',
    none: 'Keine Ergebnisse für „{query}“',
    one: '1 Ergebnis für „{query}“',
    many: '{count} Ergebnisse für „{query}“',
    more: 'Weitere Ergebnisse',
    failed: 'Die Suche ist fehlgeschlagen. Versuchen Sie es noch einmal.',
    needsServer: 'Die Suche braucht JavaScript und einen Webserver: aus einem Ordner geht sie nicht.',
  },
  fr: {
    title: 'Recherche',
    label: 'Rechercher dans ces pages',
    searching: 'Recherche…',
    none: 'Aucun résultat pour « {query} »',
    one: '1 résultat pour « {query} »',
    many: '{count} résultats pour « {query} »',
    more: 'Plus de résultats',
    failed: 'La recherche a échoué. Réessayez.',
    needsServer: 'La recherche nécessite JavaScript et un serveur web : elle ne fonctionne pas depuis un dossier.',
  },
  es: {
    title: 'Buscar',
    label: 'Buscar en estas páginas',
    searching: 'Buscando…',
    none: 'Sin resultados para «{query}»',
    one: '1 resultado para «{query}»',
    many: '{count} resultados para «{query}»',
    more: 'Más resultados',
    failed: 'La búsqueda ha fallado. Inténtelo de nuevo.',
    needsServer: 'La búsqueda necesita JavaScript y un servidor web: no funciona desde una carpeta.',
  },
  it: {
    title: 'Cerca',
    label: 'Cerca in queste pagine',
    searching: 'Ricerca in corso…',
    none: 'Nessun risultato per «{query}»',
    one: '1 risultato per «{query}»',
    many: '{count} risultati per «{query}»',
    more: 'Altri risultati',
    failed: 'La ricerca non è riuscita. Riprova.',
    needsServer: 'La ricerca richiede JavaScript e un server web: non funziona da una cartella.',
  },
  pt: {
    title: 'Pesquisa',
    label: 'Pesquisar nestas páginas',
    searching: 'A pesquisar…',
    none: 'Nenhum resultado para “{query}”',
    one: '1 resultado para “{query}”',
    many: '{count} resultados para “{query}”',
    more: 'Mais resultados',
    failed: 'A pesquisa falhou. Tente novamente.',
    needsServer: 'A pesquisa precisa de JavaScript e de um servidor web: não funciona a partir de uma pasta.',
  },
  ja: {
    title: '検索',
    label: 'このサイトを検索',
    searching: '検索中…',
    none: '「{query}」に一致する結果はありません',
    one: '「{query}」の検索結果 1 件',
    many: '「{query}」の検索結果 {count} 件',
    more: 'さらに表示',
    failed: '検索に失敗しました。もう一度お試しください。',
    needsServer: '検索には JavaScript とウェブサーバーが必要です。フォルダーからは使えません。',
  },
  zh: {
    title: '搜索',
    label: '搜索本站',
    searching: '正在搜索…',
    none: '没有与“{query}”相符的结果',
    one: '“{query}”有 1 个结果',
    many: '“{query}”有 {count} 个结果',
    more: '更多结果',
    failed: '搜索失败，请重试。',
    needsServer: '搜索需要 JavaScript 和网页服务器，无法直接从文件夹使用。',
  },
};

/** The texts for a language tag such as `de-ch`; English ones if there are none. */
export function textsFor(language: string): SearchTexts {
  const [primary = ''] = language.split('-');
  return TEXTS[primary] ?? ENGLISH;
}
