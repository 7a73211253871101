/** Opens the print dialog, which also makes PDFs, for the section of an element: the rest of the page may show others' data. */
export function printSection(element: Element) {
  const section = element.closest("section");
  section?.setAttribute("data-printed", "");
  window.addEventListener("afterprint", () => section?.removeAttribute("data-printed"), { once: true });
  window.print();
}
