"""The words of sentences that say outright how an attempt went, in nine languages."""

from __future__ import annotations

from typing import Literal

from reasoningbank_langgraph.parsing.status_words import word_set
from reasoningbank_langgraph.text.folding import Folded

Outright = Literal["success", "failure"]


def fold_text(text: str) -> str:
    """Return a text as its words are compared: folded, in lower case."""
    return Folded(text).view.casefold().replace("’", "'")


def _words(text: str) -> frozenset[str]:
    return word_set(fold_text(text))


NOUNS: dict[str, Outright] = {
    **dict.fromkeys(
        _words("failure misserfolg fehlschlag échec fracaso fallimento insuccesso fracasso провал неудача"), "failure"
    ),
    **dict.fromkeys(_words("success erfolg succès réussite éxito successo sucesso успех"), "success"),
}
"""A verdict on the attempt, whatever "this" or "it" is."""
_FAILED = _words(
    """fail fails failed failing unsuccessful unsolved incorrect wrong invalid false mistaken erroneous flawed
    falsch inkorrekt misslungen fehlgeschlagen gescheitert ungültig faux fausse incorrecte échoué erroné erronée
    incorrecta incorrecto fallido fallida errónea erróneo sbagliata sbagliato errata errato scorretta fallito errada
    errado incorreta incorreto falhou неверен неверна неверно неверный неправильно неправильный неправильна ошибочен
    ошибочный неудачна"""
)
_HELD = _words(
    """succeed succeeds succeeded successful successfully pass passes passed correct right valid solve solves solved
    richtig korrekt erfolgreich gelungen correcte juste exact exacte réussi réussie correcta correcto exitoso exitosa
    corretta corretto giusta giusto riuscito riuscita correta correto certa верен верна верно верный правильно
    правильный правильна успешна успешно"""
)
STATUSES: dict[str, Outright] = NOUNS | dict.fromkeys(_FAILED, "failure") | dict.fromkeys(_HELD, "success")
"""These and what may as well be said of a step: "This is correct. Then it adds 3."""
JUDGED = _words(
    """answer answers solution attempt trajectory response submission agent solver student model assistant verdict
    conclusion judgment judgement assessment evaluation status outcome grade thoughts i antwort lösung versuch urteil
    ergebnis ich réponse solution tentative je respuesta solución intento veredicto risposta soluzione tentativo
    giudizio resposta solução tentativa veredito ответ решение попытка вердикт"""
)
"""What is judged, and who judges."""
PRONOUNS = _words(
    """this that it he she they result output reasoning task das dies dieses es er sie ce ceci cela c'est cette esto
    esta este questo questa isto это этот эта"""
)
"""What may be the attempt or a step of it."""
NEGATIONS = _words(
    """not no never isn't wasn't didn't doesn't don't hasn't cannot can't couldn't nicht kein keine keinen pas non não
    не"""
)
# A failure that is likely, or called for, is told as one; a success is not.
_DOUBTS = _words("probably likely partially partly mostly largely nearly almost somewhat would should must means to")
_BETWEEN = _words(
    """a an the my our your final overall whole is are was were be been has have had does did do called as of in for
    clear complete total obvious plain real problem question so thus therefore hence and clearly definitely simply
    completely totally entirely fully obviously plainly actually indeed unfortunately still also very sadly again judge
    judged consider considered deem deemed rate rated call conclude find think believe mark marked count counts
    classify classified say regard given provided view opinion that summary we der die ein eine einen ist war hat mein
    meine insgesamt leider also somit daher klar halte für den im le la l les un une est était n'est n'a mon donc
    clairement été el es fue mi por lo tanto claramente il è e stato stata mio quindi chiaramente o uma é foi meu
    portanto был была мой итак явно finale окончательный"""
)
KNOWN = frozenset(STATUSES) | JUDGED | PRONOUNS | NEGATIONS | _BETWEEN | _DOUBTS
NOT_OUTRIGHT = _words(
    """if unless when whenever whether while until otherwise says said claims claimed claiming claim writes wrote
    written reads prints quotes tells contains ends states stated asserts insists pretends example first firstly
    initially later then eventually finally originally once wenn falls ob si se если"""
)
"""Words of a sentence that tells what might be, what somebody says, or how it went before it was put right."""
TURNS = _words(
    """but however though although yet except nevertheless nonetheless only aber jedoch mais cependant pero embargo
    ma però mas но однако"""
)
"""Words that begin what takes a success back."""
UNSURE = TURNS | _DOUBTS
"""Words beside which nothing is a success outright."""
