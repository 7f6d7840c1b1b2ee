export type Quality = "good" | "uncertain" | "bad";

/** The severity that an OPC UA StatusCode's name begins with. */
export function qualityOf(status: string): Quality {
  if (status.startsWith("Good")) {
    return "good";
  }
  return status.startsWith("Uncertain") ? "uncertain" : "bad";
}
