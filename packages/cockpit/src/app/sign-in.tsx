import { useState, type FormEvent, type ReactNode } from "react";
import type { Session } from "../api/session.ts";
import { useMessages } from "../i18n/use-messages.ts";
import { Button } from "../ui/button.tsx";
import { Brand } from "./brand.tsx";

export function SignIn({ session, refused }: { readonly session: Session; readonly refused: boolean }): ReactNode {
  const t = useMessages().common.signIn;
  const [token, setToken] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (token.trim() !== "") session.signIn(token.trim());
  };
  return (
    <main className="sign-in">
      <Brand />
      <form className="panel" onSubmit={submit}>
        <h1>{t.title}</h1>
        <p className="dim">{t.help}</p>
        <div className="field">
          <label htmlFor="token">{t.label}</label>
          <input
            id="token"
            className="input"
            type="password"
            autoComplete="current-password"
            autoFocus
            required
            value={token}
            aria-invalid={refused}
            aria-describedby={refused ? "token-problem" : undefined}
            onChange={(event) => setToken(event.target.value)}
          />
          {refused ? (
            <p id="token-problem" className="notice" data-tone="red" role="alert">
              {t.refused}
            </p>
          ) : null}
        </div>
        <Button type="submit" look="primary">
          {t.submit}
        </Button>
      </form>
    </main>
  );
}
