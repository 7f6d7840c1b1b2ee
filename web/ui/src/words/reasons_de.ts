// What the gateway says about connections, values and writes, in German: the English text is the
// key. A test holds this list against the sources of the gateway; a text without its German one
// is shown in English.
export const reasonsInGerman: Readonly<Record<string, string>> = {
  // Values and writes: gateway/model/catalogue.cpp.
  "the PLC delivered the value": "die SPS hat den Wert geliefert",
  "not read from the PLC yet": "noch nicht aus der SPS gelesen",
  "wait for the first scan; if it stays, look at the connection's state":
    "die erste Abtastung abwarten; bleibt es dabei, den Zustand der Verbindung ansehen",
  "no connection to the PLC": "keine Verbindung zur SPS",
  "check cable, power, address, rack and slot; the gateway keeps trying":
    "Kabel, Strom, Adresse, Rack und Slot prüfen; das Gateway versucht es weiter",
  "no connection to the PLC; this is the last value it delivered":
    "keine Verbindung zur SPS; dies ist der letzte Wert, den sie geliefert hat",
  "the last value is older than the tag allows":
    "der letzte Wert ist älter, als die Variable erlaubt",
  "scans come late: use a longer scan interval, fewer tags or more jobs in flight":
    "Abtastungen kommen zu spät: längeres Intervall, weniger Variablen oder mehr gleichzeitige Aufträge",
  "the PLC reports a hardware fault for this address (item code 01)":
    "die SPS meldet einen Hardwarefehler an dieser Adresse (Item-Code 01)",
  "check the module or periphery behind the address":
    "die Baugruppe oder Peripherie hinter der Adresse prüfen",
  "the PLC does not allow reading this address (item code 03)":
    "die SPS erlaubt nicht, diese Adresse zu lesen (Item-Code 03)",
  "allow PUT/GET access in the PLC and switch off optimised access of the block":
    "in der SPS PUT/GET erlauben und den optimierten Zugriff des Bausteins abschalten",
  "the PLC does not allow writing this address (item code 03)":
    "die SPS erlaubt nicht, diese Adresse zu schreiben (Item-Code 03)",
  "allow PUT/GET access and writing in the PLC's protection settings":
    "in den Schutzeinstellungen der SPS PUT/GET und Schreiben erlauben",
  "the address lies outside the block or area (item code 05)":
    "die Adresse liegt außerhalb des Bausteins oder Bereichs (Item-Code 05)",
  "compare the tag's address and type with the length of the block":
    "Adresse und Typ der Variablen mit der Länge des Bausteins vergleichen",
  "the PLC does not support this kind of access (item code 06)":
    "die SPS unterstützt diese Art des Zugriffs nicht (Item-Code 06)",
  "choose another type for the tag": "einen anderen Typ für die Variable wählen",
  "type or length do not match what lies at the address (item code 07)":
    "Typ oder Länge passen nicht zu dem, was an der Adresse liegt (Item-Code 07)",
  "compare the tag's type and length with the PLC's program":
    "Typ und Länge der Variablen mit dem Programm der SPS vergleichen",
  "the block does not exist in the PLC (item code 0A)":
    "den Baustein gibt es in der SPS nicht (Item-Code 0A)",
  "load the block or correct its number; optimised blocks look missing too":
    "den Baustein laden oder seine Nummer berichtigen; auch optimierte Bausteine scheinen zu fehlen",
  "the PLC answered with an item code outside the documented ones":
    "die SPS hat mit einem Item-Code geantwortet, der nicht dokumentiert ist",
  "the log line of this connection holds the code":
    "der Code steht in der Protokollzeile dieser Verbindung",
  "the PLC refused the whole job": "die SPS hat den ganzen Auftrag abgelehnt",
  "the log line of this connection holds error class and code":
    "Fehlerklasse und Code stehen in der Protokollzeile dieser Verbindung",
  "the PLC's reply contradicts the request": "die Antwort der SPS widerspricht der Anfrage",
  "the log line of this connection says where; send us a capture":
    "wo, sagt die Protokollzeile dieser Verbindung; senden Sie uns einen Mitschnitt",
  "the PLC did not answer in time": "die SPS hat nicht rechtzeitig geantwortet",
  "check the PLC's load and the network; a longer job timeout is possible":
    "Last der SPS und Netzwerk prüfen; die Auftragszeit lässt sich verlängern",
  "the PLC holds no valid date here": "in der SPS steht hier kein gültiges Datum",
  "set the date in the PLC's program": "das Datum im Programm der SPS setzen",
  "the PLC's string was never initialised": "der String der SPS wurde nie initialisiert",
  "the PLC's string is longer than the tag's, or was never initialised":
    "der String der SPS ist länger als der der Variable oder wurde nie initialisiert",
  "give the tag the PLC's length, or the string a start value in the PLC's program":
    "der Variable die Länge der SPS geben oder dem String im SPS-Programm einen Startwert",
  "give the string a start value in the PLC's program":
    "dem String im Programm der SPS einen Startwert geben",
  "the PLC is in STOP": "die SPS ist in STOP",
  "switch the PLC to RUN, or configure that STOP is ignored":
    "die SPS auf RUN schalten oder konfigurieren, dass STOP nicht zählt",
  "the item does not fit into any job of this PLC":
    "die Variable passt in keinen Auftrag dieser SPS",
  "split the tag into smaller ones": "die Variable in kleinere teilen",
  "the PLC accepted the write": "die SPS hat den Wert angenommen",
  "the write was not sent: no connection to the PLC":
    "nicht gesendet: keine Verbindung zur SPS",
  "write again when the connection is up; nothing is replayed":
    "noch einmal schreiben, wenn die Verbindung steht; nichts wird nachgeholt",
  "the write was sent and not answered in time: it may or may not have happened":
    "gesendet und nicht rechtzeitig beantwortet: der Wert kann geschrieben sein oder auch nicht",
  "the connection broke after the write was sent: it may or may not have happened":
    "nach dem Senden riss die Verbindung ab: der Wert kann geschrieben sein oder auch nicht",
  "read the value back before writing again":
    "den Wert ansehen, bevor Sie noch einmal schreiben",
  "only a part of the value was written": "nur ein Teil des Werts wurde geschrieben",
  "read the value back; it needs several jobs and one of them failed":
    "den Wert ansehen; er braucht mehrere Aufträge, und einer davon schlug fehl",
  "the tag is read-only": "die Variable ist nur lesbar",
  "set writable in the tag's configuration":
    "in der Konfiguration der Variablen writable setzen",
  "the value's type is not the tag's": "der Typ des Werts ist nicht der der Variablen",
  "send the type that the tag row states": "den Typ senden, den die Variable hat",
  "the value is outside the range of the tag's type":
    "der Wert liegt außerhalb des Bereichs dieses Typs",
  "the text or array is longer than the tag takes":
    "Text oder Feld sind länger, als die Variable fasst",
  "this user may not write": "dieser Benutzer darf nicht schreiben",
  "sign in with the role operator": "mit der Rolle operator anmelden",
  "too many operations are waiting": "zu viele Vorgänge warten",
  "try again; the limit is named in the configuration reference":
    "noch einmal versuchen; die Grenze steht in der Konfigurationsreferenz",
  "the tag does not exist any more": "die Variable gibt es nicht mehr",
  "browse again": "die Liste neu laden",
  "the gateway is stopping": "das Gateway hält an",
  "the request's own time limit passed first": "die eigene Frist der Anfrage lief vorher ab",
  "allow more time": "mehr Zeit erlauben",

  // Connections: protocols/s7/client_engine.cpp.
  connected: "verbunden",
  "the PLC did not answer the connection request in time: check address and port":
    "die SPS hat den Verbindungswunsch nicht rechtzeitig beantwortet: Adresse und Port prüfen",
  "the PLC refused the connection: check rack, slot and connection type, and whether it has a free connection":
    "die SPS hat die Verbindung abgelehnt: Rack, Slot und Verbindungstyp prüfen, und ob sie noch eine freie Verbindung hat",
  "the PLC refused the setup of the connection: check that it allows PUT/GET access":
    "die SPS hat den Aufbau der Verbindung abgelehnt: prüfen, ob sie PUT/GET erlaubt",
  "the PLC closed the connection before it was set up: check whether it has a free connection":
    "die SPS schloss die Verbindung, bevor sie aufgebaut war: prüfen, ob sie noch eine freie Verbindung hat",
  "the PLC offered a connection that cannot be used: check family and PDU size":
    "die SPS bot eine Verbindung an, die nicht zu brauchen ist: Familie und PDU-Größe prüfen",
  "the PLC, or a device between, closed the connection: check both and the cable":
    "die SPS oder ein Gerät dazwischen hat die Verbindung geschlossen: beide und das Kabel prüfen",
  "the network connection failed: check cable and switches":
    "die Netzwerkverbindung ist ausgefallen: Kabel und Switches prüfen",
  "the PLC ended the connection: check whether it was restarted":
    "die SPS hat die Verbindung beendet: prüfen, ob sie neu gestartet wurde",
  "what answers is not an S7 PLC, or one without PUT/GET access":
    "was antwortet, ist keine S7-SPS oder eine ohne PUT/GET-Zugriff",
  "the PLC stopped answering: check its power, and cable and switches":
    "die SPS antwortet nicht mehr: Strom, Kabel und Switches prüfen",
  "closed by this side": "von dieser Seite geschlossen",
  "unknown reason": "Ursache unbekannt",

  // Connections: gateway/sources/s7/s7_source.cpp.
  "the host's name does not resolve: correct it, or use the numeric address":
    "der Name der Gegenstelle ist unbekannt: berichtigen oder die numerische Adresse nehmen",
  "no name server answers for the host's name: check this machine's name service, or use the numeric address":
    "kein Namensserver antwortet für die Gegenstelle: Namensauflösung dieses Rechners prüfen oder die numerische Adresse nehmen",
  "the host refuses the connection: check address and port, and whether the PLC offers S7 communication":
    "die Gegenstelle lehnt die Verbindung ab: Adresse und Port prüfen, und ob die SPS S7-Kommunikation anbietet",
  "the host cannot be reached: check address, cable and this machine's routes":
    "die Gegenstelle ist nicht zu erreichen: Adresse, Kabel und Routen dieses Rechners prüfen",
  "no answer from the host in time: check its address, power and cable, and firewalls between":
    "keine rechtzeitige Antwort: Adresse, Strom, Kabel und Firewalls dazwischen prüfen",
  "this machine cannot open a connection: it may have run out of descriptors or ports":
    "dieser Rechner kann keine Verbindung öffnen: Deskriptoren oder Ports können ihm ausgegangen sein",
};
