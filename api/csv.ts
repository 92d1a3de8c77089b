export const csvHeaders = { 'content-type': 'text/csv; charset=utf-8' };

/** A text as RFC 4180 quotes it, which a spreadsheet takes for no formula. */
export const csvCell = (text: string) => `"${text.replaceAll('"', '""').replace(/^(?=[=+\-@\t\r])/, "'")}"`;
