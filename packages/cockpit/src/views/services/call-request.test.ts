import { describe, expect, test } from "vitest";
import { shellWord } from "../../ui/shell-word.ts";
import { callRequest, cliCommand, curlCommand, isHeaderText, type Call } from "./call-request.ts";

const call: Call = {
  target: { service: "inbox", key: "a/b c", handler: "add" },
  input: `{"note":"it's"}`,
  how: "send",
  delay: "10s",
  idempotencyKey: "once more",
};
const plain: Call = {
  target: { service: "mailer", handler: "send" },
  input: null,
  how: "call",
  delay: "",
  idempotencyKey: "",
};

describe("a call", () => {
  test("is addressed by its target, whatever its key holds", () => {
    expect(callRequest(call)).toEqual({
      path: "/calls/inbox/a%2Fb%20c/add",
      query: { delay: "10s" },
      headers: { "idempotency-key": "once more" },
    });
    expect(callRequest(plain)).toEqual({ path: "/calls/mailer/send", query: { delay: "" }, headers: {} });
  });

  test("is said to the command line", () => {
    expect(cliCommand(plain)).toBe("npx perdure call mailer/send");
    expect(cliCommand(call)).toBe(
      String.raw`npx perdure send 'inbox/a/b c/add' '{"note":"it'\''s"}' --delay 10s --idempotency-key 'once more'`,
    );
  });

  test("is said to curl, without the token itself", () => {
    expect(curlCommand(plain, "http://127.0.0.1:9070", false)).toBe(
      "curl http://127.0.0.1:9070/calls/mailer/send -X POST",
    );
    expect(curlCommand(call, "https://x.example", true)).toBe(
      String.raw`curl 'https://x.example/calls/inbox/a%2Fb%20c/add?delay=10s' -H 'idempotency-key: once more' -H "authorization: Bearer $PERDURE_TOKEN" --json '{"note":"it'\''s"}'`,
    );
  });

  test("no text of it is more than one word to a shell", () => {
    for (const text of ["", "a b", "$(rm)", "`x`", "a\nb", "x;y", "~", "!", "*", '"', "\\", "'", "''"]) {
      const word = shellWord(text);
      expect(word.startsWith("'") && word.endsWith("'")).toBe(true);
      // What a shell makes of it: quoted stretches, and quotes that stand alone.
      expect(
        word.replaceAll(
          /'([^']*)'|\\(.)/g,
          (_, quoted: string | undefined, one: string | undefined) => quoted ?? one ?? "",
        ),
      ).toBe(text);
    }
    expect(shellWord("mailer/send")).toBe("mailer/send");
  });

  test("what cannot travel in a header is known before it is sent", () => {
    expect(isHeaderText("order-17 / a")).toBe(true);
    for (const text of ["ü", "键", "a\nb", " a"]) expect(isHeaderText(text)).toBe(false);
  });
});
