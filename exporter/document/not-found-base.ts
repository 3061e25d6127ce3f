/**
 * What the not-found page carries at the start of its head. A host shows it at any address, where its relative links
 * need the root as base; opened by its own name (from a folder, or below a sub-path) they are right without one. So a
 * script decides, before anything else is read.
 */
export const NOT_FOUND_BASE =
  '<script>(function(s,b){if(!/^http/.test(location.protocol))return;if(/\\/404(\\.html)?$/.test(location.pathname))return;b.href="/";s.parentNode.insertBefore(b,s)})(document.currentScript,document.createElement("base"))</script>';
