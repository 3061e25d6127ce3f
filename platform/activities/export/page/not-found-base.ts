/**
 * What the not-found page carries at the start of its head. A host shows it at any address, so its relative links need
 * a base: the root. Where it is opened by its own name (from a folder, or below a sub-path) links are right without.
 */
export const NOT_FOUND_BASE =
  '<base href="/"/><script>if(location.protocol==="file:"||/^\\/.+\\/404(\\.html)?$/.test(location.pathname))document.querySelector("base").removeAttribute("href")</script>';
