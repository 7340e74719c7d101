// Passkeys: a form with data-passkey gets one from the browser before it is submitted.
const bytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));

const words = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const listed = (credentials = []) => credentials.map((entry) => ({ ...entry, id: bytes(entry.id) }));

// Browsers do not allow passkeys on IP addresses.
const usable =
  window.isSecureContext && "credentials" in navigator && !/^[\d.]+$|^\[/.test(window.location.hostname);

async function added({ publicKey }) {
  const made = await navigator.credentials.create({
    publicKey: {
      ...publicKey,
      challenge: bytes(publicKey.challenge),
      user: { ...publicKey.user, id: bytes(publicKey.user.id) },
      excludeCredentials: listed(publicKey.excludeCredentials),
      authenticatorSelection: {
        ...publicKey.authenticatorSelection,
        residentKey: "required",
        requireResidentKey: true,
        userVerification: "required",
      },
    },
  });
  return {
    ...described(made),
    response: {
      clientDataJSON: words(made.response.clientDataJSON),
      attestationObject: words(made.response.attestationObject),
      transports: made.response.getTransports?.() ?? [],
    },
  };
}

async function used({ publicKey }) {
  const found = await navigator.credentials.get({
    publicKey: {
      ...publicKey,
      challenge: bytes(publicKey.challenge),
      allowCredentials: listed(publicKey.allowCredentials),
    },
  });
  const { clientDataJSON, authenticatorData, signature, userHandle } = found.response;
  return {
    ...described(found),
    response: {
      clientDataJSON: words(clientDataJSON),
      authenticatorData: words(authenticatorData),
      signature: words(signature),
      userHandle: userHandle ? words(userHandle) : null,
    },
  };
}

function described(credential) {
  return {
    type: credential.type,
    id: credential.id,
    rawId: words(credential.rawId),
    authenticatorAttachment: credential.authenticatorAttachment,
    clientExtensionResults: credential.getClientExtensionResults(),
  };
}

async function optionsOf(form) {
  if (form.dataset.passkeyOptions) {
    return JSON.parse(document.getElementById(form.dataset.passkeyOptions).textContent);
  }
  const answer = await fetch(form.action, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error("The server did not respond. Wait a minute and try again.");
  return (await answer.json()).request_options;
}

function problemOf(error) {
  if (error.name === "InvalidStateError") return "That device already has a passkey for this account.";
  if (error.name === "NotAllowedError") return "Cancelled or timed out. Try again.";
  return error.message;
}

async function ask(form) {
  const problem = form.querySelector("[data-passkey-problem]");
  problem.hidden = true;
  try {
    const options = await optionsOf(form);
    const credential = form.dataset.passkey === "add" ? await added(options) : await used(options);
    form.querySelector("[data-passkey-credential]").value = JSON.stringify(credential);
    form.submit();
  } catch (error) {
    problem.textContent = problemOf(error);
    problem.hidden = false;
  }
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  form.hidden = !usable;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(form);
  });
}

for (const note of document.querySelectorAll("[data-passkey-unusable]")) note.hidden = usable;
