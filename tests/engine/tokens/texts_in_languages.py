"""Prose of our own, one text of each language, to be measured."""

from __future__ import annotations

from typing import Final

ENGLISH: Final = """The harbour was empty when we came down to it in the morning. During the night the wind had turned, and every boat that
could sail had gone out with the tide; only the old ferry lay at the quay, its ropes creaking. My grandmother sat down on a crate
and unpacked the bread. "They will be back before dark," she said, "and then you'll see how heavy a good catch is." I did not
believe her. I was nine years old, I had never seen more than a dozen fish at once, and I was certain that the sea had nothing to
give to people like us. We waited all day. At noon it began to rain, a thin warm rain that nobody minded, and the women who had
come to mend nets told each other stories about storms, husbands and saints. When the first sail appeared behind the lighthouse
they all fell silent at the same moment, as if somebody had asked them to.
"""

CHAT: Final = """Hi! I ordered a pair of running shoes last week, but the box that arrived today has sandals in it. Can you help me?
I'm sorry to hear that! I can certainly help. Could you please give me your order number and the email address of your account?
Sure, the order number is 4471-A, and my email is june.park@example.com. I need the shoes before Saturday, if that's possible.
Thank you, June. I can see the mistake. I can send the right pair by express today, free of charge, or refund you in full.
Please send the shoes! Do I have to return the sandals first?
No, you don't have to. We'll email you a prepaid label, and you can drop them off whenever it suits you. Anything else I can do?
"""

GERMAN: Final = """Als wir am Morgen zum Hafen hinunterkamen, war er leer. In der Nacht hatte der Wind gedreht, und jedes Boot, das segeln
konnte, war mit der Flut hinausgefahren. Nur die alte Fähre lag noch am Kai, und ihre Taue knarrten. Meine Großmutter setzte sich
auf eine Kiste und packte das Brot aus. „Vor der Dämmerung sind sie zurück“, sagte sie, „und dann wirst du sehen, wie schwer ein
guter Fang ist.“ Ich glaubte ihr nicht. Ich war neun Jahre alt und überzeugt, dass das Meer Leuten wie uns nichts zu geben hatte.
"""

FRENCH: Final = """Le port était vide quand nous y sommes descendus ce matin-là. Pendant la nuit le vent avait tourné, et tous les bateaux
capables de naviguer étaient sortis avec la marée ; seul le vieux bac restait à quai, et ses cordages grinçaient. Ma grand-mère
s'assit sur une caisse et déballa le pain. « Ils seront de retour avant la nuit, dit-elle, et tu verras comme une bonne pêche est
lourde. » Je ne la croyais pas. J'avais neuf ans et j'étais sûr que la mer n'avait rien à donner à des gens comme nous.
"""

SPANISH: Final = """El puerto estaba vacío cuando bajamos por la mañana. Durante la noche el viento había cambiado y todos los barcos que
podían navegar habían salido con la marea; solo quedaba el viejo transbordador en el muelle, con sus cuerdas que crujían. Mi abuela
se sentó en una caja y sacó el pan. «Volverán antes de que anochezca», dijo, «y entonces verás cuánto pesa una buena pesca». Yo no
la creía. Tenía nueve años y estaba seguro de que el mar no tenía nada que dar a gente como nosotros.
"""

RUSSIAN: Final = """Когда утром мы спустились в гавань, она была пуста. Ночью ветер переменился, и все лодки, которые могли идти под
парусом, ушли вместе с отливом; у причала стоял только старый паром, и его канаты тихо скрипели. Бабушка села на ящик и достала
хлеб. «К вечеру они вернутся, — сказала она, — и тогда ты увидишь, каким тяжёлым бывает хороший улов». Я ей не поверил. Мне было
девять лет, и я был уверен, что море ничего не может дать таким людям, как мы.
"""

CHINESE: Final = """早上我们走到港口的时候，那里已经空了。夜里风向变了，所有能出海的船都随着潮水离开了，只有那艘旧渡船还停在码头边，
缆绳发出吱吱的声音。奶奶坐在一个木箱上，把面包拿出来。她说：“天黑以前他们会回来的，到时候你就知道一网好鱼有多重了。”
我不相信她。那时我九岁，从来没有见过十条以上的鱼，我认为大海不会给我们这样的人任何东西。我们等了一整天，中午开始下雨，
但是没有人在意。如果配置文件中没有设置默认语言，系统会使用环境变量中的值，并在日志中记录一条警告信息。
"""

JAPANESE: Final = """朝、私たちが港に下りていくと、そこには誰もいませんでした。夜のうちに風向きが変わり、出られる船はみな潮に乗って
出てしまったのです。古い渡し船だけが岸壁に残り、ロープがきしんでいました。祖母は木箱に腰を下ろし、パンを取り出しました。
「暗くなる前に帰ってくるよ。そうしたら、大漁がどれほど重いものか分かるからね」と祖母は言いました。私は信じませんでした。
設定ファイルに言語が指定されていない場合は、環境変数の値を使用し、ログに警告メッセージを出力します。データベースの接続に
失敗したときは、三回まで再試行してください。
"""

KOREAN: Final = """아침에 우리가 항구로 내려갔을 때 그곳은 비어 있었다. 밤사이에 바람이 바뀌어서 나갈 수 있는 배는 모두 물때에 맞춰
떠났고, 낡은 나룻배만 부두에 남아 있었다. 할머니는 나무 상자에 앉아 빵을 꺼내셨다. "어두워지기 전에 돌아올 거야. 그때가 되면
좋은 어획이 얼마나 무거운지 알게 될 거다." 나는 믿지 않았다. 설정 파일에 언어가 지정되어 있지 않으면 환경 변수의 값을 사용하고
로그에 경고 메시지를 기록합니다. 데이터베이스 연결에 실패하면 최대 세 번까지 다시 시도하십시오.
"""
