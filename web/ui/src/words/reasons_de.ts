// What the gateway says about connections, values and writes, in German: the English text is the
// key. A test holds this list against the sources of the gateway; a text without its German one
// is shown in English.
export const reasonsInGerman: Readonly<Record<string, string>> = {
};
